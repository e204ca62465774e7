/** Fetching for code in a worker that has no network of its own: see host-services.ts. */
import type { IncomingMessage } from 'node:http';
import type { RelayFetch, RelayRequest } from '@notebridge/sandbox/relay/relay-fetch';
import type { HostService, ServiceMessage } from './host-services.js';

export interface FetchLimits {
  /** Default: 16; others wait for their turn. */
  maxRequests?: number | undefined;
  /** Of one answer. Default: 512 MiB. */
  maxBytes?: number | undefined;
  /** From the first byte that is sent to the last that comes. Default: ten minutes. */
  timeoutMs?: number | undefined;
}

interface Running {
  readonly abort: AbortController;
  readonly body: IncomingMessage;
  bytes: number;
  isBeingRead: boolean;
  end(): void;
}

/** Of one answer to the worker. */
const maxPieceBytes = 1024 * 1024;
const maxSentBytes = 64 * 1024 * 1024;
/** Waiting or under way. */
const maxKnown = 512;
/** What all that wait for an answer send. */
const maxAllSentBytes = 2 * maxSentBytes;

/** A request is sent by `open`, and its body is read in pieces: no more of it is in memory here than one, and what a socket buffers. */
export class FetchService implements HostService {
  readonly #fetch: RelayFetch;
  readonly #limits: Required<{ [name in keyof FetchLimits]: number }>;
  readonly #running = new Map<number, Running>();
  readonly #queue: (() => void)[] = [];
  readonly #aborts = new Set<AbortController>();
  #busy = 0;
  #sentBytes = 0;
  #lastHandle = 0;
  #isClosed = false;

  constructor(fetch: RelayFetch, { maxRequests = 16, maxBytes = 512 * 1024 * 1024, timeoutMs = 600_000 }: FetchLimits = {}) {
    this.#fetch = fetch;
    this.#limits = { maxRequests, maxBytes, timeoutMs };
  }

  async call({ text, data }: ServiceMessage, signal: AbortSignal): Promise<ServiceMessage> {
    const { op, handle, ...request } = parse(text);
    if (op === 'open') return this.#openWithin(toRequest(request, data), text.length + (data?.byteLength ?? 0), signal);
    const running = this.#running.get(Number(handle));
    if (!running) throw new Error('this answer is not there any more');
    if (op === 'read') return this.#read(running);
    running.end();
    return { text: '{}' };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const abort of this.#aborts) abort.abort();
    for (const running of this.#running.values()) running.end();
    for (const begin of this.#queue.splice(0)) begin();
  }

  async #openWithin(request: RelayRequest, bytes: number, signal: AbortSignal): Promise<ServiceMessage> {
    if (this.#sentBytes + bytes > maxAllSentBytes)
      throw new Error(`requests that have no answer yet send ${maxAllSentBytes} bytes at most, all together`);
    this.#sentBytes += bytes;
    try {
      return await this.#open(request, signal);
    } finally {
      this.#sentBytes -= bytes;
    }
  }

  async #open(request: RelayRequest, signal: AbortSignal): Promise<ServiceMessage> {
    await this.#turn();
    const abort = new AbortController();
    const stop = () => abort.abort();
    const timer = setTimeout(stop, this.#limits.timeoutMs).unref();
    this.#aborts.add(abort);
    let isEnded = false;
    const end = () => {
      if (isEnded) return;
      isEnded = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      this.#aborts.delete(abort);
      abort.abort();
      this.#busy--;
      this.#queue.shift()?.();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted || this.#isClosed) stop();
    try {
      const { body, ...head } = await this.#fetch(request, abort.signal);
      const handle = ++this.#lastHandle;
      body.on('error', () => {});
      const whole = () => {
        this.#running.delete(handle);
        body.destroy();
        end();
      };
      this.#running.set(handle, { abort, body, bytes: 0, isBeingRead: false, end: whole });
      // Also of one that code has opened and does not read: others wait for its place.
      abort.signal.addEventListener('abort', whole, { once: true });
      if (abort.signal.aborted) whole();
      return { text: JSON.stringify({ ...head, handle }) };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** The next piece; without bytes it was the last. */
  async #read(running: Running): Promise<ServiceMessage> {
    const { body } = running;
    if (running.isBeingRead) throw new Error('this answer is being read already');
    running.isBeingRead = true;
    const piece = await nextPiece(body);
    running.isBeingRead = false;
    running.bytes += piece?.byteLength ?? 0;
    if (running.bytes > this.#limits.maxBytes) {
      running.end();
      throw new Error(`the answer has more than ${this.#limits.maxBytes} bytes`);
    }
    if (piece === undefined) {
      const isCut = !body.complete;
      running.end();
      if (isCut) throw new Error('the answer broke off');
    }
    return { text: '{}', data: new Uint8Array(piece ?? []) };
  }

  async #turn(): Promise<void> {
    if (this.#busy + this.#queue.length >= maxKnown) throw new Error(`${maxKnown} requests are under way or wait already`);
    if (this.#busy >= this.#limits.maxRequests) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#busy++;
  }
}

function nextPiece(body: IncomingMessage): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const take = () => {
      const length = Math.min(body.readableLength, maxPieceBytes);
      const piece: Buffer | null = length > 0 ? body.read(length) : body.read();
      if (piece === null && !body.readableEnded && !body.destroyed) return;
      for (const name of ['readable', 'end', 'close', 'error']) body.off(name, take);
      resolve(piece ?? undefined);
    };
    for (const name of ['readable', 'end', 'close', 'error']) body.on(name, take);
    take();
  });
}

function parse(text: string): { [key: string]: unknown } {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new Error('no request');
  return value as { [key: string]: unknown };
}

/** Code may have forged it. */
function toRequest({ url, method, headers, redirect }: { [key: string]: unknown }, body: Uint8Array | undefined): RelayRequest {
  const pairs = Array.isArray(headers) ? headers.slice(0, 1000) : [];
  if (typeof url !== 'string' || url.length > 65_536) throw new Error('no address, or one that is too long');
  if ((body?.byteLength ?? 0) > maxSentBytes) throw new Error(`at most ${maxSentBytes} bytes are sent in one request`);
  return {
    url,
    method: typeof method === 'string' ? method : 'GET',
    headers: pairs.map((pair) => [String(pair?.[0]), String(pair?.[1])] as const),
    body,
    redirect: redirect === 'manual' ? 'manual' : 'follow',
  };
}
