import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';

/** An answer with a JSON-RPC `error`. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The JSON-RPC error codes that a page uses. */
export const invalidRequest = -32600;
export const unknownMethod = -32601;
export const invalidParams = -32602;
const internalError = -32603;

export interface PagePeerOptions {
  send: (frame: string) => void;
  /** Answers a request. `signal` aborts when it is cancelled, or when the connection ends. */
  onRequest: (method: string, params: JsonObject, signal: AbortSignal) => unknown;
  /** Called with notifications other than a cancellation. */
  onNotification: (method: string) => void;
  /** Called with the reason why a frame is skipped. */
  onFault: (fault: string) => void;
}

/**
 * The JSON-RPC end of one connection, for a side that is asked and asks for nothing but a ping: one message per frame, answers in whatever
 * order they are ready, none to a request that was cancelled.
 */
export class PagePeer {
  readonly #options: PagePeerOptions;
  readonly #running = new Map<unknown, AbortController>();
  readonly #pings = new Set<unknown>();
  #lastPing = 0;

  constructor(options: PagePeerOptions) {
    this.#options = options;
  }

  receive(frame: unknown): void {
    const message = parseMessage(frame);
    if (message === undefined) return this.#options.onFault('A frame is not a JSON-RPC message.');
    const { id, method } = message;
    const params = isJsonObject(message.params) ? message.params : {};
    // What has no method is an answer: to a ping, or to nothing that was asked.
    if (typeof method !== 'string' && this.#pings.delete(id)) return;
    if (typeof method !== 'string') return this.#options.onFault('An answer came that nobody asked for.');
    if (typeof id === 'string' || typeof id === 'number') return void this.#answer(id, method, params);
    if (method === 'notifications/cancelled') this.#cancel(params.requestId, String(params.reason ?? 'The agent cancelled it.'));
    else this.#options.onNotification(method);
  }

  notify(method: string, params?: JsonObject): void {
    this.#options.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  /** Any frame that comes after it is a sign of life. */
  ping(): void {
    const id = `ping-${++this.#lastPing}`;
    this.#pings.add(id);
    this.#options.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }));
  }

  /** Aborts what runs; its answers reach nobody. */
  close(): void {
    for (const id of [...this.#running.keys()]) this.#cancel(id, 'The connection ended.');
  }

  async #answer(id: string | number, method: string, params: JsonObject): Promise<void> {
    const controller = new AbortController();
    this.#running.set(id, controller);
    const frame = await this.#perform(id, method, params, controller.signal);
    // Who cancelled wants no answer, and the next connection may use the same id.
    if (this.#running.get(id) !== controller) return;
    this.#running.delete(id);
    this.#options.send(frame);
  }

  async #perform(id: string | number, method: string, params: JsonObject, signal: AbortSignal): Promise<string> {
    try {
      // Printed in here, since what a page answers may be circular.
      return JSON.stringify({ jsonrpc: '2.0', id, result: await this.#options.onRequest(method, params, signal) });
    } catch (error) {
      const code = error instanceof RpcError ? error.code : internalError;
      return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: messageOf(error) } });
    }
  }

  #cancel(id: unknown, reason: string): void {
    const controller = this.#running.get(id);
    this.#running.delete(id);
    controller?.abort(new DOMException(reason, 'AbortError'));
  }
}

function parseMessage(frame: unknown): JsonObject | undefined {
  try {
    const message: unknown = JSON.parse(String(frame));
    return isJsonObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}
