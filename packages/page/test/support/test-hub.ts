import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '@notebridge/protocol/json';
import { type WebSocket, WebSocketServer } from 'ws';
import { within } from './bounded.js';

export interface TestHubOptions {
  /** 0 for any free port. */
  port?: number;
  /** Tokens that let a page in; all others are refused with 403. */
  tokens?: string[];
  /** Members of the params of `initialize`. */
  handshake?: JsonObject;
  /** Called with each socket in place of the greeting. */
  onSocket?: (socket: WebSocket) => void;
}

/** A small real hub: an HTTP server that upgrades who has a token, greets it, and asks what a test wants. */
export class TestHub implements AsyncDisposable {
  readonly port: number;
  readonly tokens: Set<string>;
  readonly connections: HubConnection[] = [];
  /** The tokens of all dials, let in or not. */
  readonly dials: (string | null)[] = [];
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #options: TestHubOptions;
  readonly #watchers = new Set<() => void>();

  private constructor(server: Server, options: TestHubOptions) {
    this.#server = server;
    this.#options = options;
    this.port = (server.address() as AddressInfo).port;
    this.tokens = new Set(options.tokens ?? ['first']);
    this.#sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'mcp' });
    server.on('upgrade', (request, stream, head) => {
      const token = tokenOf(request);
      this.dials.push(token);
      if (this.tokens.has(String(token))) this.#sockets.handleUpgrade(request, stream, head, (socket) => this.#take(socket));
      else stream.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      this.#wake();
    });
  }

  static async open(options: TestHubOptions = {}): Promise<TestHub> {
    const server = createServer((_request, response) => response.writeHead(426).end());
    await new Promise<void>((resolve) => server.listen(options.port ?? 0, resolve));
    return new TestHub(server, options);
  }

  /** What a person pastes. */
  get entry(): string {
    return `${[...this.tokens].at(-1)}&${this.port}`;
  }

  /** The connection of that number, greeted. */
  async connection(index = this.connections.length): Promise<HubConnection> {
    await this.until(() => this.connections.length > index);
    const connection = this.connections[index] as HubConnection;
    await within('the answer to initialize', connection.initialized);
    return connection;
  }

  async until(condition: () => boolean): Promise<void> {
    const met = new Promise<void>((resolve) => {
      const look = (): void => {
        if (condition()) resolve();
      };
      this.#watchers.add(look);
      look();
    });
    await within(String(condition), met);
  }

  /** Ends as a program that is killed: no farewell. */
  async close(): Promise<void> {
    for (const { socket } of this.connections) socket.terminate();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #take(socket: WebSocket): void {
    if (this.#options.onSocket) return this.#options.onSocket(socket);
    this.connections.push(new HubConnection(socket, this.#options.handshake ?? {}));
    this.#wake();
  }

  #wake(): void {
    for (const look of this.#watchers) look();
  }
}

/** The hub's end of one page connection. */
export class HubConnection {
  readonly socket: WebSocket;
  /** Resolves to the page's answer to `initialize`. */
  readonly initialized: Promise<JsonObject>;
  /** Resolves to the close code. */
  readonly closed: Promise<number>;
  /** Everything the page sent. */
  readonly received: JsonObject[] = [];
  readonly #watchers = new Set<() => void>();
  #lastId = 0;

  constructor(socket: WebSocket, handshake: JsonObject) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('message', (data) => {
      this.received.push(JSON.parse(String(data)) as JsonObject);
      for (const look of this.#watchers) look();
    });
    const params: JsonObject = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test-agent', version: '1.2' },
      ...handshake,
    };
    this.initialized = this.request('initialize', params).then(({ result }) => {
      this.notify('notifications/initialized');
      return result as JsonObject;
    });
    // Who does not wait for the greeting does not care what became of it.
    this.initialized.catch(() => {});
  }

  /** Sends a request and gives the whole answer, an error too. */
  async request(method: string, params: JsonObject = {}, id: string | number = `t${++this.#lastId}`): Promise<JsonObject> {
    this.send({ jsonrpc: '2.0', id, method, params });
    return this.message((message) => message.id === id);
  }

  async callTool(name: string, args: unknown = {}, meta?: JsonObject): Promise<JsonObject> {
    const { result } = await this.request('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
    return result as JsonObject;
  }

  notify(method: string, params: JsonObject = {}): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The first message of the page that fits. */
  async message(fits: (message: JsonObject) => boolean): Promise<JsonObject> {
    const found = new Promise<JsonObject>((resolve) => {
      const look = (): void => {
        const message = this.received.find(fits);
        if (message !== undefined) resolve(message);
      };
      this.#watchers.add(look);
      look();
    });
    const gone = this.closed.then((code) => {
      throw new Error(`The page was closed (${code}) before a message that fits ${fits}`);
    });
    return within(`a message that fits ${fits}`, Promise.race([found, gone]));
  }

  notification(method: string): Promise<JsonObject> {
    return this.message((message) => message.method === method);
  }
}

function tokenOf(request: IncomingMessage): string | null {
  return new URL(request.url ?? '/', 'ws://localhost').searchParams.get('access_token');
}
