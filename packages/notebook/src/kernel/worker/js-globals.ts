/**
 * What Python's `js` module holds, instead of everything the worker holds: what `pyodide.http.pyfetch` needs. But for `Object`
 * all of it is ours: the classes of the runtime lead to objects that it uses itself.
 */
import { PlainAbortController, PlainAbortSignal } from './abort-signal.js';
import type { PlainRequest, PlainResponse } from './plain-fetch.js';

/** Sends a request to where it is checked; `abort` gives it up. */
export type SendRequest = (request: PlainRequest) => { response: Promise<PlainResponse>; abort: () => void };

export function createJsGlobals(send: SendRequest): object {
  return Object.assign(Object.create(null), {
    Object,
    AbortController: PlainAbortController,
    AbortSignal: PlainAbortSignal,
    Request: FetchRequest,
    fetch: createFetch(send),
  });
}

type Init = { method?: unknown; headers?: unknown; body?: unknown; signal?: unknown } | undefined;

class FetchRequest {
  readonly #request: PlainRequest;
  readonly #signal: PlainAbortSignal | undefined;

  constructor(input: unknown, init?: Init) {
    const given = FetchRequest.isRequest(input) ? input.#request : undefined;
    this.#request = copyRequest(given ?? { url: `${input}`, method: 'GET', headers: [] }, init);
    this.#signal = copySignal(init) ?? (FetchRequest.isRequest(input) ? input.#signal : undefined);
  }

  static isRequest(value: unknown): value is FetchRequest {
    return typeof value === 'object' && value !== null && #request in value;
  }

  static parts(request: FetchRequest) {
    return { request: request.#request, signal: request.#signal };
  }

  get url(): string {
    return this.#request.url;
  }

  get method(): string {
    return this.#request.method;
  }

  get headers(): FetchHeaders {
    return new FetchHeaders(this.#request.headers);
  }

  get signal(): PlainAbortSignal | undefined {
    return this.#signal;
  }
}
const { parts } = FetchRequest;

class FetchHeaders {
  readonly #entries: [string, string][];

  constructor(entries: [string, string][]) {
    this.#entries = entries;
  }

  get(name: string): string | null {
    return this.#entries.find(([key]) => key === `${name}`.toLowerCase())?.[1] ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  entries() {
    return this.#entries.map(([name, value]): [string, string] => [name, value]).values();
  }

  keys() {
    return this.#entries.map(([name]) => name).values();
  }

  values() {
    return this.#entries.map(([, value]) => value).values();
  }

  [Symbol.iterator]() {
    return this.entries();
  }
}

class FetchResponse {
  readonly #response: PlainResponse;
  #used = false;

  constructor(response: PlainResponse) {
    this.#response = response;
  }

  get status(): number {
    return this.#response.status;
  }

  get statusText(): string {
    return this.#response.statusText;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get url(): string {
    return this.#response.url;
  }

  get type(): string {
    return 'basic';
  }

  get redirected(): boolean {
    return false;
  }

  get headers(): FetchHeaders {
    return new FetchHeaders(this.#response.headers);
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  clone(): FetchResponse {
    if (this.#used) throw new TypeError('Cloning a response: its body was read already. Clone it before');
    return new FetchResponse(this.#response);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#read().slice().buffer as ArrayBuffer;
  }

  async bytes(): Promise<Uint8Array> {
    return this.#read().slice();
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(this.#read());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  #read(): Uint8Array {
    if (this.#used) throw new TypeError('Reading a response: its body was read already. Clone it before');
    this.#used = true;
    return this.#response.body;
  }
}

/** What instances lead to, though no name does. */
export const jsClasses: readonly object[] = [FetchRequest, FetchHeaders, FetchResponse];

function createFetch(send: SendRequest) {
  return async function fetch(input: unknown, init?: Init): Promise<FetchResponse> {
    // Everything is read from Python's objects once, in here. What is checked later is what is sent.
    const { request, signal } = parts(new FetchRequest(input, init));
    signal?.throwIfAborted();
    const { response, abort } = send(request);
    if (!signal) return new FetchResponse(await response);
    let onAbort = () => {};
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => {
        abort();
        reject(signal.reason);
      };
    });
    addListener.call(signal, 'abort', onAbort, { once: true });
    try {
      return new FetchResponse(await Promise.race([response, aborted]));
    } finally {
      removeListener.call(signal, 'abort', onAbort);
    }
  };
}

/** Not the methods that an object of Python's own may show in their place. */
const { addEventListener: addListener, removeEventListener: removeListener } = PlainAbortSignal.prototype;

function copySignal(init: Init): PlainAbortSignal | undefined {
  const signal = init?.signal;
  if (signal === undefined || signal === null) return undefined;
  if (!PlainAbortSignal.isSignal(signal)) throw new TypeError('Fetching: "signal" is no AbortSignal. Take that of an AbortController');
  return signal;
}

function copyRequest(given: PlainRequest, init: Init): PlainRequest {
  const method = init?.method;
  const headers = init?.headers;
  const body = copyBody(init?.body) ?? given.body;
  return {
    url: given.url,
    method: method === undefined ? given.method : `${method}`.toUpperCase(),
    headers: headers === undefined ? given.headers : copyHeaders(headers),
    ...(body ? { body } : {}),
  };
}

function copyHeaders(given: unknown): [string, string][] {
  if (typeof given !== 'object' || given === null) throw new TypeError('Fetching: "headers" is no object');
  const pairs = Symbol.iterator in given ? [...(given as Iterable<[unknown, unknown]>)] : Object.entries(given);
  return pairs.map(([name, value]) => [`${name}`.toLowerCase(), `${value}`]);
}

function copyBody(given: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === 'string') return new TextEncoder().encode(given);
  if (given instanceof ArrayBuffer) return new Uint8Array(given).slice();
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer as ArrayBuffer, given.byteOffset, given.byteLength).slice();
  throw new TypeError('Fetching: "body" is neither text nor bytes');
}
