import { isJsonObject } from '@notebridge/kit/json';
import type WebSocket from 'ws';
import { within } from '../kernel/within.js';
import { NotebookError } from '../model/errors.js';
import { encodePath, type JupyterServer } from './jupyter-server.js';
import { type AwarenessState, parseRoomMessage, printAwareness, printMissing, printState, printUpdate } from './room-protocol.js';
import * as Y from './yjs.js';

/** What the server calls a notebook's room, and this life of it. */
interface RoomSession {
  readonly fileId: string;
  readonly sessionId: string;
}

const loadTimeoutMs = 60_000;
/** As y-protocols: a client that is silent for twice this time counts as gone. */
const renewAwarenessMs = 15_000;

/**
 * One connection to the collaboration room of a notebook, with a document of its own that ends with it. Never connected again: a
 * document synced into a room that has begun anew would add its cells to those that are there.
 */
export class Room {
  readonly document = new Y.Doc();
  /** Resolves when the connection has ended, with what the server said. */
  readonly closed: Promise<string>;
  readonly #socket: WebSocket;
  readonly #clients = new Map<number, AwarenessState>();
  /** Called one by one: the server answers in the order in which it was asked. */
  readonly #asked: (() => void)[] = [];
  readonly #renewing: NodeJS.Timeout;
  #self: AwarenessState | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', (code, reason) => resolve(`${code} ${String(reason)}`.trim())));
    this.#renewing = setInterval(() => this.#renewAwareness(), renewAwarenessMs);
    void this.closed.then(() => {
      clearInterval(this.#renewing);
      this.document.destroy();
    });
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
      if (origin !== this) this.#send(printUpdate(update));
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

  /** Clients besides ours, by their ids. */
  get others(): ReadonlyMap<number, AwarenessState> {
    return this.#clients;
  }

  /** What the room shows of us to others. */
  introduce(state: object): void {
    this.#self = { clientId: this.document.clientID, clock: (this.#self?.clock ?? 0) + 1, state };
    this.#send(printAwareness(this.#self));
  }

  /** Resolves with true when the server has taken everything that was sent before, and we have what it had. False: the connection has ended. */
  async settle(): Promise<boolean> {
    const answered = new Promise<boolean>((resolve) => this.#asked.push(() => resolve(true)));
    this.#send(printState(this.document));
    return Promise.race([answered, this.closed.then(() => false)]);
  }

  close(): void {
    if (this.#self) this.#send(printAwareness({ ...this.#self, clock: this.#self.clock + 1, state: null }));
    this.#socket.close();
    const timer = setTimeout(() => this.#socket.terminate(), 1000);
    void this.closed.then(() => clearTimeout(timer));
  }

  #take(data: Buffer): void {
    const message = parseRoomMessage(data);
    if (message?.type === 'state') this.#send(printMissing(this.document, message.vector));
    else if (message?.type === 'awareness') this.#takeAwareness(message.clients);
    else if (message?.type === 'update') Y.applyUpdate(this.document, message.update, this);
    else if (message?.type === 'missing') {
      Y.applyUpdate(this.document, message.update, this);
      this.#asked.shift()?.();
    }
  }

  #takeAwareness(clients: readonly AwarenessState[]): void {
    for (const client of clients) {
      if (client.clientId === this.document.clientID) continue;
      if ((this.#clients.get(client.clientId)?.clock ?? -1) > client.clock) continue;
      if (client.state === null) this.#clients.delete(client.clientId);
      else this.#clients.set(client.clientId, client);
    }
  }

  #renewAwareness(): void {
    if (this.#self) this.introduce(this.#self.state as object);
  }

  #send(message: Uint8Array): void {
    if (this.isOpen) this.#socket.send(message);
  }
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

async function isOnServer(server: JupyterServer, path: string): Promise<boolean> {
  const { status } = await server.ask(`api/contents/${encodePath(path)}`, { query: { content: '0' } });
  return status !== 404;
}
