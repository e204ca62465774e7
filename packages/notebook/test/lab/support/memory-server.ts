import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import * as Y from '../../../src/lab/yjs.js';
import { parseNotebook, printNotebook } from '../../../src/model/nbformat.js';

type FileCell = { id: string; cell_type: string; source: string; [key: string]: unknown };

/**
 * A Jupyter server with one notebook in memory, which speaks as much of the API as an edit needs: for tests that make more calls than a real
 * one answers in their time. With a room (`live`), the notebook is the room's document, and a person who types is another client of it.
 */
export class MemoryServer implements AsyncDisposable {
  readonly path = 'work.ipynb';
  readonly document = new Y.Doc();
  /** Without a room: the cells of the file. Replace it to save as a person does. */
  cells: readonly FileCell[] = [];
  /** Called before a write of ours takes the place of what is there. Only without a room. */
  onWrite: (cells: readonly FileCell[]) => void = () => {};
  readonly #isLive: boolean;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });

  private constructor(isLive: boolean) {
    this.#isLive = isLive;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on('upgrade', (request, socket, head) =>
      this.#sockets.handleUpgrade(request, socket, head, (client) => this.#welcome(client)),
    );
  }

  static async open({ live }: { live: boolean }): Promise<MemoryServer> {
    const server = new MemoryServer(live);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    this.document.destroy();
  }

  #welcome(client: WebSocket): void {
    const { decoding, encoding, sync } = Y;
    const send = (write: (encoder: Y.encoding.Encoder) => void): void =>
      client.send(
        encoding.encode((encoder) => {
          encoding.writeVarUint(encoder, 0);
          write(encoder);
        }),
      );
    const forward = (update: Uint8Array, origin: unknown): void => {
      if (origin !== client) send((encoder) => sync.writeUpdate(encoder, update));
    };
    this.document.on('update', forward);
    client.on('close', () => this.document.off('update', forward));
    client.on('message', (data: Buffer) => {
      const reader = decoding.createDecoder(data);
      if (decoding.readVarUint(reader) !== 0) return;
      const answer = encoding.createEncoder();
      const step = sync.readSyncMessage(reader, answer, this.document, client);
      if (step === sync.messageYjsSyncStep1) send((encoder) => encoding.writeBinaryEncoder(encoder, answer));
    });
    send((encoder) => sync.writeSyncStep1(encoder, this.document));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.baseUrl);
    const body: Buffer[] = [];
    for await (const chunk of request) body.push(chunk as Buffer);
    const [status, value] = this.#respond(request.method ?? 'GET', pathname, {
      withContent: searchParams.get('content') !== '0',
      asText: searchParams.get('type') === 'file',
      text: Buffer.concat(body).toString(),
    });
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  }

  #respond(
    method: string,
    path: string,
    { withContent, asText, text }: { withContent: boolean; asText: boolean; text: string },
  ): [number, unknown] {
    if (path === '/api/kernelspecs')
      return [200, { default: 'python3', kernelspecs: { python3: { spec: { display_name: 'Python 3', language: 'python' } } } }];
    if (path === '/api/sessions') return [200, []];
    if (path.startsWith('/api/collaboration/session/') && this.#isLive) return [200, { fileId: 'file', sessionId: 'session' }];
    if (path === '/api/contents/') return [200, { content: [] }];
    if (path !== `/api/contents/${this.path}`) return [404, { message: 'Not found' }];
    if (method === 'PUT') {
      const { content } = JSON.parse(text) as { content: string };
      const file = JSON.parse(content) as { cells: (Omit<FileCell, 'source'> & { source: string[] })[] };
      const cells = file.cells.map(({ source, ...cell }) => ({ ...cell, source: [source].flat().join('') }) as FileCell);
      this.onWrite(cells);
      this.cells = cells;
    }
    // As a server hashes the file that it writes.
    const content = { cells: this.cells, metadata: {}, nbformat: 4, nbformat_minor: 5 };
    const file = printNotebook(parseNotebook(JSON.stringify(content)).notebook);
    const stamp = { last_modified: 'now', hash: createHash('sha256').update(file).digest('hex') };
    return [200, withContent ? { ...stamp, content: asText ? file : content } : stamp];
  }
}

/** As a file has it. */
export const fileCell = (id: string, source: string): FileCell => ({
  ...{ id, cell_type: 'code', source, metadata: {}, outputs: [], execution_count: null },
});
