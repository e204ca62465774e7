import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { messageOf } from '../../core/errors.js';
import type { Logger } from '../../core/logger.js';
import { admit, pageSubprotocol, type Refusal } from './admission.js';
import { type BindOptions, bindLoopback } from './bind.js';
import { FailedTries } from './failed-tries.js';
import type { Slot } from './slot.js';

export interface PageListenerOptions extends BindOptions {
  slots: Iterable<Slot>;
  logger: Logger;
  /** Host names, besides the loopback ones, that a page may have dialled. */
  allowHosts?: readonly string[] | undefined;
  maxMessageBytes: number;
}

/** Refusals that may wait at once; past it a stranger is cut off without a word. */
const maxWaitingRefusals = 64;

/** The port that pages dial. It lets in who holds a slot's token, from an origin of that slot, and nobody else. */
export class PageListener {
  readonly port: number;
  readonly #options: PageListenerOptions;
  readonly #servers: Server[];
  readonly #webSockets: WebSocketServer;
  readonly #hosts: Set<string>;
  readonly #failedTries = new FailedTries();
  #waitingRefusals = 0;
  #silentConnections = 0;

  private constructor(options: PageListenerOptions, port: number, servers: Server[]) {
    this.#options = options;
    this.port = port;
    this.#servers = servers;
    this.#hosts = new Set(
      ['localhost', '127.0.0.1', '[::1]', ...(options.allowHosts ?? [])].flatMap((host) => [`${host}:${port}`.toLowerCase()]),
    );
    this.#webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: options.maxMessageBytes,
      perMessageDeflate: false,
      handleProtocols: () => pageSubprotocol,
    });
  }

  /** Binds the port. Rejects with `port_in_use`. */
  static async open(options: PageListenerOptions): Promise<PageListener> {
    const { port, servers } = await bindLoopback((request, response) => listener.#answerPlainRequest(request, response), options);
    const listener = new PageListener(options, port, servers);
    for (const server of servers) {
      server.on('upgrade', (request, stream, head) => listener.#upgrade(request, stream, head));
      server.on('connection', (socket) => socket.once('close', () => listener.#countSilence(socket.bytesRead)));
    }
    return listener;
  }

  /** Connections that came and went without a byte: what a browser does that lacks the permission for the local network. */
  get silentConnections(): number {
    return this.#silentConnections;
  }

  /** Frees the port. Slots and their pages are not ours to close. */
  async close(): Promise<void> {
    this.#webSockets.close();
    await Promise.all(
      this.#servers.map((server) => {
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        server.closeAllConnections();
        return closed;
      }),
    );
  }

  #upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on('error', (error) => this.#options.logger.debug('A connection failed before it was a page.', { error: error.message }));
    const admission = admit(request, { slots: this.#options.slots, hosts: this.#hosts });
    if ('refusal' in admission) return this.#refuse(stream, admission.refusal, request);
    const open = (): Promise<WebSocket> => new Promise((resolve) => this.#webSockets.handleUpgrade(request, stream, head, resolve));
    admission.slot.accept(open, stream).catch((error: unknown) => {
      this.#options.logger.warn('A page could not be taken in.', { error: messageOf(error) });
      stream.destroy();
    });
  }

  #refuse(stream: Duplex, refusal: Refusal, request: IncomingMessage): void {
    this.#options.logger.warn('A connection was refused.', {
      status: refusal.status,
      reason: refusal.reason,
      origin: request.headers.origin,
    });
    const delayMs = refusal.failedToken ? this.#failedTries.add() : 0;
    if (this.#waitingRefusals >= maxWaitingRefusals) return void stream.destroy();
    this.#waitingRefusals++;
    setTimeout(() => {
      this.#waitingRefusals--;
      stream.end(toRefusalText(refusal), () => stream.destroy());
    }, delayMs);
  }

  #answerPlainRequest(request: IncomingMessage, response: ServerResponse): void {
    const isOurs = this.#hosts.has(request.headers.host?.toLowerCase() ?? '');
    const status = isOurs ? (request.url?.split('?')[0] === '/' ? 426 : 404) : 403;
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close', upgrade: 'websocket' });
    response.end(`${STATUS_CODES[status]}. Notebook pages connect here by WebSocket; there is nothing to see.\n`);
  }

  #countSilence(bytesRead: number): void {
    if (bytesRead > 0) return;
    this.#silentConnections++;
    this.#options.logger.warn('A connection came and went without a byte: the browser may lack the permission for the local network.');
  }
}

function toRefusalText({ status, reason }: Refusal): string {
  const body = `${reason}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
