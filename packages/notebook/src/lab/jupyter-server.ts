import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { messageOf } from '@notebridge/protocol/util/message-of';
import WebSocket from 'ws';
import { NotebookError, type NotebookErrorCode } from '../model/errors.js';

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
/** A notebook of the most that may be opened, with each character outside ASCII escaped. More in one answer or message is refused. */
const maxAnswerBytes = 256 * 1024 * 1024;
/** As Node's `fetch` says that a connection was cut. */
const cutCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
/** Pongs that a server does not take are not sent. */
const maxUnsentBytes = 65_536;

/** Jupyter's HTTP API, with the token in a header: in no address, and so in no log. */
export class JupyterServer {
  /** As people may read it. */
  readonly name: string;
  #token: string;
  readonly #renewToken: (() => Promise<string | undefined>) | undefined;
  readonly #ends = new Set<(reason: Error) => void>();
  #closed: Error | undefined;

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
    throw this.#error('server_failed', `${this.name} answered ${request.method ?? 'GET'} ${path} with ${status}${said}.`, { path, status });
  }

  /** As `request`, but any status that is no refusal is an answer. */
  async ask(path: string, request: ServerRequest = {}): Promise<ServerAnswer> {
    const { status, text } = await this.read(path, request);
    return { status, body: parse(text) };
  }

  /** The same, for what need not be JSON. */
  read(path: string, request: ServerRequest = {}): Promise<{ status: number; text: string }> {
    return this.#withToken(() => this.#readAgain(path, request));
  }

  /** Opens a WebSocket; resolves when it is open, and paused until its reader is ready. Rejects as `request` does. */
  connect(path: string, options: SocketOptions = {}): Promise<WebSocket> {
    return this.#withToken(() => this.#connect(path, options));
  }

  /** Ends what waits for an answer, and all sockets. Closing twice is harmless. */
  close(): void {
    this.#closed ??= new NotebookError('closed', `The Jupyter server at ${this.name} is not used any more.`);
    for (const end of [...this.#ends]) end(this.#closed);
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

  /**
   * A request that changes nothing is made once more where the connection was cut: a server, or a proxy before it, closes one that was kept for later,
   * and that may be just as a request leaves on it.
   */
  async #readAgain(path: string, request: ServerRequest): Promise<{ status: number; text: string }> {
    try {
      return await this.#read(path, request);
    } catch (error) {
      const code = error instanceof NotebookError && error.cause instanceof Error ? errnoOf(error.cause.cause) : undefined;
      if ((request.method ?? 'GET') !== 'GET' || !cutCodes.has(code ?? '')) throw error;
      return this.#read(path, request);
    }
  }

  async #read(path: string, { method = 'GET', body, query = {} }: ServerRequest): Promise<{ status: number; text: string }> {
    const url = this.#addressOf(path, query);
    const { ended, release } = this.#endOf();
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, {
        method,
        headers: { ...this.#headers, ...(body ? { 'content-type': 'application/json' } : {}) },
        // A server that does not know us sends its visitors to a login page.
        redirect: 'manual',
        signal: ended,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      text = await readText(response);
    } catch (error) {
      throw this.#unreachable(error);
    } finally {
      release();
    }
    const { status } = response;
    if (status === 401 || status === 403 || (status >= 300 && status < 400)) throw this.#refused(status);
    return { status, text };
  }

  /**
   * When a request ends at the latest. Not by `AbortSignal.any`: what it makes may be collected as garbage while a
   * request waits, and then never ends it.
   */
  #endOf(): { ended: AbortSignal; release: () => void } {
    const controller = new AbortController();
    const end = (reason: Error): void => controller.abort(reason);
    const timer = setTimeout(() => end(new Error(`no whole answer within ${answerTimeoutMs / 1000} s`)), answerTimeoutMs);
    this.#ends.add(end);
    if (this.#closed) end(this.#closed);
    const release = (): void => {
      clearTimeout(timer);
      this.#ends.delete(end);
    };
    return { ended: controller.signal, release };
  }

  #connect(path: string, { query = {}, protocols = [] }: SocketOptions): Promise<WebSocket> {
    const url = this.#addressOf(path, query);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url, protocols, {
      headers: this.#headers,
      handshakeTimeout: handshakeTimeoutMs,
      maxPayload: maxAnswerBytes,
      // Most servers are on this machine, where it costs more than it saves.
      perMessageDeflate: false,
    });
    socket.binaryType = 'nodebuffer';
    const end = (): void => socket.terminate();
    this.#ends.add(end);
    socket.once('close', () => this.#ends.delete(end));
    if (this.#closed) end();
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
        const failed = () => this.#error('server_failed', `${this.name} answered the WebSocket ${path} with ${status}.`, { path, status });
        reject(status === 401 || status === 403 || status === 302 ? this.#refused(status) : failed());
      });
      socket.once('error', (error) => reject(this.#unreachable(error)));
    });
  }

  #refused(status: number): NotebookError {
    const next =
      'Give the token that the server prints when it starts: in JUPYTER_TOKEN, or in the address as "?token=…". One that has a password prints none: start it with a token beside it, "jupyter lab --IdentityProvider.token=SECRET".';
    return this.#error('server_refused', `The Jupyter server at ${this.name} does not accept the token (status ${status}). ${next}`, {
      status,
    });
  }

  #unreachable(cause: unknown): NotebookError {
    const reason = cause instanceof Error && cause.cause !== undefined ? messageOf(cause.cause) : messageOf(cause);
    return this.#error('server_unreachable', `The Jupyter server at ${this.name} does not answer: ${reason}. Is it running?`, {}, cause);
  }

  #error(code: NotebookErrorCode, message: string, data: object, cause?: unknown): NotebookError {
    return new NotebookError(code, message, { data: { server: this.name, ...data }, cause });
  }

  #addressOf(path: string, query: { [name: string]: string }): URL {
    const url = new URL(path, this.name);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
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
    if (data.length < 16_384 && socket.readyState === socket.OPEN && socket.bufferedAmount < maxUnsentBytes) socket.pong();
  });
}

/** The body, within bounds: what a server sends is not believed to end. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new RangeError(`its answer has more than ${maxAnswerBytes / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Each part of a path as a server takes it; slashes stay. Throws `bad_arguments` for one that leads up: an address would lead elsewhere by it. */
export function encodePath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '.');
  if (parts.includes('..'))
    throw new NotebookError('bad_arguments', 'A path on a Jupyter server has no "..": name it from its root folder.');
  return parts.map(encodeURIComponent).join('/');
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
