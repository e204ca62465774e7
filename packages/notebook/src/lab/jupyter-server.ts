import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { messageOf } from '@notebridge/kit/message-of';
import WebSocket from 'ws';
import { NotebookError } from '../model/errors.js';

/** Where a Jupyter server is, and what opens it. */
export interface ServerAddress {
  /** With the base path, ending in a slash: `http://127.0.0.1:8888/`, `https://hub.example/user/ann/`. */
  readonly baseUrl: string;
  /** Empty for a server without. */
  readonly token: string;
}

export interface ServerRequest {
  method?: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  body?: JsonObject;
  query?: { [name: string]: string };
  signal?: AbortSignal | undefined;
}

export interface SocketOptions {
  query?: { [name: string]: string };
  protocols?: string[];
}

/** An answer with JSON; undefined where there is none. */
export interface ServerAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** How long a server may take for one answer: it reads and writes files of many megabytes. */
const answerTimeoutMs = 60_000;
/** A socket to a kernel that is just ending is never answered. */
const handshakeTimeoutMs = 20_000;

/** Jupyter's HTTP API, with the token in a header: in no address, and so in no log. */
export class JupyterServer {
  /** As people may read it. */
  readonly name: string;
  #token: string;
  readonly #renewToken: (() => Promise<string | undefined>) | undefined;

  /** `renewToken`: asked when the server refuses the token; a server that was started again has another one. */
  constructor({ baseUrl, token }: ServerAddress, renewToken?: () => Promise<string | undefined>) {
    this.name = baseUrl;
    this.#token = token;
    this.#renewToken = renewToken;
  }

  /** Rejects with `server_unreachable`, `server_refused` for a token that is not accepted, or `server_failed` for any other status. */
  async request(path: string, request: ServerRequest = {}): Promise<unknown> {
    const { status, body } = await this.ask(path, request);
    if (status < 300) return body;
    const said = isJsonObject(body) && typeof body.message === 'string' && body.message !== '' ? `: ${body.message.slice(0, 500)}` : '';
    throw new NotebookError('server_failed', `${this.name} answered ${request.method ?? 'GET'} ${path} with ${status}${said}.`, {
      data: { server: this.name, path, status },
    });
  }

  /** As `request`, but any status that is no refusal is an answer. */
  async ask(path: string, request: ServerRequest = {}): Promise<ServerAnswer> {
    const { status, text } = await this.read(path, request);
    return { status, body: parse(text) };
  }

  /** The same, for what need not be JSON. */
  read(path: string, request: ServerRequest = {}): Promise<{ status: number; text: string }> {
    return this.#withToken(() => this.#read(path, request));
  }

  /** Opens a WebSocket; resolves when it is open, and paused until its reader is ready. Rejects as `request` does. */
  connect(path: string, options: SocketOptions = {}): Promise<WebSocket> {
    return this.#withToken(() => this.#connect(path, options));
  }

  /** Once more, if the server has another token by now. */
  async #withToken<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isRefused = error instanceof NotebookError && error.code === 'server_refused';
      const token = isRefused ? await this.#renewToken?.() : undefined;
      if (token === undefined || token === this.#token) throw error;
      this.#token = token;
      return work();
    }
  }

  async #read(path: string, { method = 'GET', body, query = {}, signal }: ServerRequest): Promise<{ status: number; text: string }> {
    const url = new URL(path, this.name);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const timeout = AbortSignal.timeout(answerTimeoutMs);
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, {
        method,
        headers: { ...this.#headers, ...(body ? { 'content-type': 'application/json' } : {}) },
        // A server that does not know us sends its visitors to a login page.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      text = await response.text();
    } catch (error) {
      throw this.#unreachable(error);
    }
    const { status } = response;
    if (status === 401 || status === 403 || (status >= 300 && status < 400)) throw this.#refused(status);
    return { status, text };
  }

  #connect(path: string, { query = {}, protocols = [] }: SocketOptions): Promise<WebSocket> {
    const url = new URL(path, this.name);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const socket = new WebSocket(url, protocols, {
      headers: this.#headers,
      handshakeTimeout: handshakeTimeoutMs,
      maxPayload: 1024 * 1024 * 1024,
      // Most servers are on this machine, where it costs more than it saves.
      perMessageDeflate: false,
    });
    socket.binaryType = 'nodebuffer';
    return new Promise((resolve, reject) => {
      socket.once('open', () => {
        socket.removeAllListeners('error');
        socket.on('error', () => socket.terminate());
        acknowledgeAtOnce(socket);
        socket.pause();
        resolve(socket);
      });
      socket.once('unexpected-response', (request, response) => {
        const status = response.statusCode ?? 0;
        request.destroy();
        reject(status === 401 || status === 403 || status === 302 ? this.#refused(status) : this.#badUpgrade(path, status));
      });
      socket.once('error', (error) => reject(this.#unreachable(error)));
    });
  }

  #refused(status: number): NotebookError {
    const next = 'Give the token that the server prints when it starts: in JUPYTER_TOKEN, or in the address as "?token=…".';
    return new NotebookError('server_refused', `The Jupyter server at ${this.name} does not accept the token (status ${status}). ${next}`, {
      data: { server: this.name, status },
    });
  }

  #unreachable(cause: unknown): NotebookError {
    const reason = cause instanceof Error && cause.cause !== undefined ? messageOf(cause.cause) : messageOf(cause);
    return new NotebookError('server_unreachable', `The Jupyter server at ${this.name} does not answer: ${reason}. Is it running?`, {
      data: { server: this.name },
      cause,
    });
  }

  #badUpgrade(path: string, status: number): NotebookError {
    return new NotebookError('server_failed', `${this.name} answered the WebSocket ${path} with ${status}.`, {
      data: { server: this.name, path, status },
    });
  }

  get #headers(): { [name: string]: string } {
    return this.#token === '' ? {} : { authorization: `token ${this.#token}` };
  }
}

/**
 * The server sends small messages by Nagle's algorithm: the second waits until the first is acknowledged, which the system of the
 * receiver delays by 40 ms, unless it has something to send. So it gets something: an unasked pong, which means nothing (RFC 6455, 5.5.3).
 */
function acknowledgeAtOnce(socket: WebSocket): void {
  socket.on('message', (data: Buffer) => {
    if (data.length < 16_384 && socket.readyState === socket.OPEN) socket.pong();
  });
}

/** Each part of a path as a server takes it; slashes stay. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
