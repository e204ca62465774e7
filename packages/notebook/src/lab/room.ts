import { isJsonObject } from '@notebridge/protocol/json';
import type WebSocket from 'ws';
import { within } from '../kernel/within.js';
import { NotebookError } from '../model/errors.js';
import { encodePath, type JupyterServer } from './jupyter-server.js';
import { isOnServer } from './server-contents.js';
import * as Y from './yjs.js';

/** What the server calls a notebook's room, and this life of it. */
interface RoomSession {
  readonly fileId: string;
  readonly sessionId: string;
}

const loadTimeoutMs = 60_000;
/** Kinds of messages: y-protocols' own. jupyter-collaboration sends texts besides, which ask for nothing. */
const [syncType, awarenessType] = [0, 1];

/**
 * One connection to the collaboration room of a notebook, with a document of its own that ends with it. Never connected again: a
 * document synced into a room that has begun anew would add its cells to those that are there.
 */
export class Room {
  readonly document = new Y.Doc();
  /** Resolves when the connection has ended, with what the server said. */
  readonly closed: Promise<string>;
  readonly #socket: WebSocket;
  readonly #awareness = new Y.Awareness(this.document);
  /** Called one by one: the server answers in the order in which it was asked. */
  readonly #asked: (() => void)[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', (code, reason) => resolve(`${code} ${String(reason)}`.trim())));
    void this.closed.then(() => this.document.destroy());
    socket.on('message', (data: Buffer) => {
      try {
        this.#take(data);
      } catch {
        // What cannot be read may have been anything: the next room begins with all of it.
        socket.terminate();
      }
    });
    socket.resume();
    this.document.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== this) this.#send(syncType, (encoder) => Y.sync.writeUpdate(encoder, update));
    });
    // Nothing is said of us before `introduce`.
    this.#awareness.setLocalState(null);
    this.#awareness.on('update', (_changes: unknown, origin: unknown) => {
      if (origin === 'local') this.#send(awarenessType, (encoder) => Y.encoding.writeVarUint8Array(encoder, this.#printSelf()));
    });
  }

  /** Asks for the room of today and loads its document. Undefined where the server has no rooms. Rejects as `JupyterServer` does. */
  static async open(server: JupyterServer, path: string): Promise<Room | undefined> {
    const session = await askForSession(server, path);
    if (!session) return undefined;
    const socket = await server.connect(`api/collaboration/room/json:notebook:${encodeURIComponent(session.fileId)}`, {
      query: { sessionId: session.sessionId },
    });
    const room = new Room(socket);
    if ((await within(loadTimeoutMs, room.settle())) === true) return room;
    room.close();
    const said = await room.closed;
    // Some versions have a room for any name, until it is to be filled.
    if (!(await isOnServer(server, path))) return undefined;
    throw new NotebookError('server_failed', `The server did not give the notebook "${path}" out of its collaboration room (${said}).`, {
      data: { path },
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** What clients besides ours say of themselves, by their ids. */
  get others(): ReadonlyMap<number, unknown> {
    return new Map([...this.#awareness.getStates()].filter(([client]) => client !== this.document.clientID));
  }

  /** What the room shows of us to others. */
  introduce(state: object): void {
    this.#awareness.setLocalState(state);
  }

  /** Resolves with true when the server has taken everything that was sent before, and we have what it had. False: the connection has ended. */
  async settle(): Promise<boolean> {
    const answered = new Promise<boolean>((resolve) => this.#asked.push(() => resolve(true)));
    this.#send(syncType, (encoder) => Y.sync.writeSyncStep1(encoder, this.document));
    return Promise.race([answered, this.closed.then(() => false)]);
  }

  close(): void {
    if (this.#awareness.getLocalState() !== null) this.#awareness.setLocalState(null);
    this.#socket.close();
    const timer = setTimeout(() => this.#socket.terminate(), 1000);
    void this.closed.then(() => clearTimeout(timer));
  }

  #take(data: Buffer): void {
    const reader = Y.decoding.createDecoder(data);
    const type = Y.decoding.readVarUint(reader);
    if (type === awarenessType) Y.applyAwarenessUpdate(this.#awareness, Y.decoding.readVarUint8Array(reader), this);
    if (type !== syncType) return;
    const answer = Y.encoding.createEncoder();
    const step = Y.sync.readSyncMessage(reader, answer, this.document, this, rethrow);
    if (step === Y.sync.messageYjsSyncStep1) this.#send(syncType, (encoder) => Y.encoding.writeBinaryEncoder(encoder, answer));
    if (step === Y.sync.messageYjsSyncStep2) this.#asked.shift()?.();
  }

  #printSelf(): Uint8Array {
    return Y.encodeAwarenessUpdate(this.#awareness, [this.document.clientID]);
  }

  #send(type: number, write: (encoder: Y.encoding.Encoder) => void): void {
    if (!this.isOpen) return;
    const message = Y.encoding.encode((encoder) => {
      Y.encoding.writeVarUint(encoder, type);
      write(encoder);
    });
    this.#socket.send(message);
  }
}

/** y-protocols would print it, and go on. */
function rethrow(error: Error): never {
  throw error;
}

async function askForSession(server: JupyterServer, path: string): Promise<RoomSession | undefined> {
  const { status, body } = await server.ask(`api/collaboration/session/${encodePath(path)}`, {
    method: 'PUT',
    body: { format: 'json', type: 'notebook' },
  });
  if (isJsonObject(body) && typeof body.fileId === 'string' && typeof body.sessionId === 'string')
    return { fileId: body.fileId, sessionId: body.sessionId };
  // Without rooms the server knows no such address. Whether it has the file, its contents tell, and whoever reads them says so.
  if (status === 404 || status === 405) return undefined;
  if (!(await isOnServer(server, path))) return undefined;
  throw new NotebookError('server_failed', `${server.name} does not say in which room "${path}" is (status ${status}).`, {
    data: { path, status },
  });
}
