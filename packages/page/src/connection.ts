import type { Address } from './address.js';
import { McpServer, type McpServerOptions } from './mcp-server.js';

/** What the WebSockets of browsers, of Node and of `ws` have in common. */
export interface PageSocket {
  readonly readyState: number;
  readonly protocol: string;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number }) => void): void;
}

export type PageSocketConstructor = new (url: string, protocols: string) => PageSocket;

export interface ConnectionEnd {
  /** The WebSocket's close code; undefined if it could not even be made. */
  code?: number;
  /** False if the dial failed. */
  wasOpen: boolean;
}

export interface ConnectionOptions extends Omit<McpServerOptions, 'send'> {
  address: Address;
  WebSocket: PageSocketConstructor;
  onEnd: (end: ConnectionEnd) => void;
  /** Default 10000. */
  quietMs?: number | undefined;
}

const subprotocol = 'mcp';
const openState = 1;
/** A program that does not start the handshake within this time after the socket is open is not a hub. */
const handshakeMs = 10_000;
/** After so long without a frame the program is asked for one, and after as long again the connection is given up. */
const quietMs = 10_000;

/** One WebSocket connection, from the dial to the end, with an MCP server of its own. */
export class Connection {
  readonly server: McpServer;
  readonly #options: ConnectionOptions;
  #socket: PageSocket | undefined;
  #handshake: ReturnType<typeof setTimeout> | undefined;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #wasOpen = false;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.server = new McpServer({
      ...options,
      send: (frame) => this.#send(frame),
      onHandshake: (agent, resumeToken) => {
        clearTimeout(this.#handshake);
        this.#watchQuiet();
        options.onHandshake(agent, resumeToken);
      },
    });
  }

  /** Dials. `onEnd` is called once, unless `close` comes first. */
  open(): void {
    const { address, WebSocket, onEnd } = this.#options;
    try {
      this.#socket = new WebSocket(`ws://localhost:${address.port}/?access_token=${encodeURIComponent(address.token)}`, subprotocol);
    } catch {
      // Some browsers throw for an address that they block.
      if (this.#finish()) onEnd({ wasOpen: false });
      return;
    }
    this.#socket.addEventListener('open', () => this.#performHandshake());
    this.#socket.addEventListener('message', ({ data }) => {
      if (this.#isClosed) return;
      this.#watchQuiet();
      this.server.receive(data);
    });
    this.#socket.addEventListener('close', ({ code }) => {
      if (this.#finish()) onEnd({ code, wasOpen: this.#wasOpen });
    });
    // `ws` throws errors without a listener; the close event that follows is what counts.
    this.#socket.addEventListener('error', () => {});
  }

  /** Closes without calling `onEnd`. Closing twice is harmless. */
  close(): void {
    if (this.#finish()) this.#socket?.close(1000);
  }

  #performHandshake(): void {
    if (this.#isClosed) return;
    this.#wasOpen = true;
    // Most WebSockets refuse a server that does not echo it by themselves.
    if (this.#socket?.protocol !== subprotocol) return this.#socket?.close(1000);
    this.#handshake = setTimeout(() => this.#socket?.close(1000), handshakeMs);
  }

  /** A tunnel or a network that died leaves a socket that looks open: a browser shows no page the pings below. */
  #watchQuiet(): void {
    const { quietMs: timeoutMs = quietMs } = this.#options;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.server.ping();
      this.#quiet = setTimeout(() => this.#giveUp(), timeoutMs);
    }, timeoutMs);
  }

  /** The socket itself would wait for an answer to its close, which nobody sends. */
  #giveUp(): void {
    if (!this.#finish()) return;
    this.#socket?.close();
    this.#options.onEnd({ code: 1006, wasOpen: true });
  }

  #send(frame: string): void {
    if (!this.#isClosed && this.#socket?.readyState === openState) this.#socket.send(frame);
  }

  /** True for the first who asks. */
  #finish(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    clearTimeout(this.#handshake);
    clearTimeout(this.#quiet);
    this.server.close();
    return true;
  }
}
