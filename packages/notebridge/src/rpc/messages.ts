import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { BridgeError, toRpcError } from '../core/errors.js';
import { quote } from '../util/quote.js';

/** A JSON-RPC id. MCP forbids null. A number may be an `ExactNumber`, so ids are compared by `idKey`. */
export type RpcId = string | number;

/** Messages keep every key they came with, known or not. */
export type RpcRequest = JsonObject & { id: RpcId; method: string; params?: JsonObject };
export type RpcNotification = JsonObject & { method: string; params?: JsonObject };
/** The result or the error is still outside data: the caller checks it. */
export type RpcAnswer = JsonObject & { id: RpcId; result?: unknown; error?: unknown };

/** What a parsed JSON value is on the wire. */
export type Classified =
  | { kind: 'request'; message: RpcRequest }
  | { kind: 'notification'; message: RpcNotification }
  | { kind: 'answer'; message: RpcAnswer }
  | { kind: 'fault'; error: BridgeError; id: RpcId | null };

/**
 * Distinguishes the four kinds of frames by shape alone: extra keys, a missing `jsonrpc` and params that are an array pass,
 * since a bridge that is stricter than its peers loses messages.
 */
export function classifyMessage(value: unknown): Classified {
  if (!isJsonObject(value)) return fault('a message must be a JSON object', value, null);
  const id = isRpcId(value.id) ? value.id : null;
  if (typeof value.method === 'string') {
    const { params } = value;
    // Some peers print what they leave out as null.
    const message = params === null ? withoutParams(value) : value;
    if (message.params !== undefined && !isJsonObject(params) && !Array.isArray(params)) {
      return fault('"params" must be an object', params, id);
    }
    if (value.id === undefined) return { kind: 'notification', message: message as RpcNotification };
    if (id === null) return fault('"id" must be a string or a number', value.id, null);
    return { kind: 'request', message: message as RpcRequest };
  }
  if (value.result === undefined && value.error === undefined) {
    return fault('a message needs a "method", or an "id" with a "result" or an "error"', Object.keys(value), id);
  }
  if (id !== null) return { kind: 'answer', message: value as RpcAnswer };
  // Not `bad_message`: two peers that answer faulty responses with errors would never stop.
  return { kind: 'fault', error: new BridgeError('unexpected_answer', 'An answer came without a usable "id".'), id: null };
}

/** Equal for equal ids and only for them: 1, "1" and an exact 1.0 differ. */
export function idKey(id: RpcId): string | number {
  return typeof id === 'string' ? `s${id}` : typeof id === 'number' ? id : `n${String(id)}`;
}

/** The answer to a request that failed; `id` is null if it answers none. */
export function toErrorAnswer(id: unknown, error: unknown): JsonObject {
  return { jsonrpc: '2.0', id, error: toRpcError(error) };
}

export function toNotification(method: string, params?: JsonObject): JsonObject {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

export function isRpcId(id: unknown): id is RpcId {
  return typeof id === 'string' || typeof id === 'number' || id instanceof ExactNumber;
}

function withoutParams({ params: _, ...rest }: JsonObject): JsonObject {
  return rest;
}

function fault(wanted: string, found: unknown, id: RpcId | null): Classified {
  return { kind: 'fault', error: new BridgeError('bad_message', `Not a JSON-RPC message: ${wanted}, found ${quote(found)}.`), id };
}
