import { BridgeError, toRpcError } from '../core/errors.js';
import { type Printed, parseMessage, printMessage } from '../core/wire.js';
import { needsSlowPath, printJson } from '../exact-json.js';
import { ExactNumber, isJsonObject, type JsonObject } from '../json.js';
import { quote } from '../util/quote.js';
import { longLineBytes, parseWithLongStrings } from './long-strings-parser.js';
import { keepRawText, printWithTokens, rawTextOf } from './unread-members.js';

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

/** A response with a result, as we send it. */
export class ResultAnswer implements JsonObject {
  [key: string]: unknown;
  readonly jsonrpc = '2.0';
  readonly id: RpcId;
  readonly result: JsonObject;

  constructor(id: RpcId, result: JsonObject) {
    this.id = id;
    this.result = result;
  }
}

/** A request of ours, as we send it. */
export class Call implements JsonObject {
  [key: string]: unknown;
  readonly jsonrpc = '2.0';
  readonly id: number;
  readonly method: string;
  readonly params?: JsonObject;

  constructor(id: number, method: string, params: JsonObject | undefined) {
    this.id = id;
    this.method = method;
    if (params !== undefined) this.params = params;
  }
}

// The two orders in which nearly every peer prints a message. The rest of the text must be one JSON value, which its parser decides;
// so nothing is read here that the whole text does not say.
const headFirst = /^\{"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}),"(?:result|method":"([\w/]{1,64})","params)":(?=\{)/;
const resultHead = '{"result":{';
const callHead = /^\{"method":"([\w/]{1,64})","params":(?=\{)/;
const tail = /\},"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14})\}$/;
const longestTail = 48;
const brace = 0x7d;
/** Shorter results are printed again: that costs less than remembering their text. UTF-16 units. */
const shortestKept = 2048;
/** Deeper nesting takes the slow path through parser and printer, which has its own bound: no far end is to choke on it. */
const deepest = 1000;

/**
 * Parses one JSON-RPC frame: the same value as `parseMessage`, mostly at half the price. A result remembers its text, and strings of
 * megabytes stay bytes until they are read, which is invisible to code that handles the value.
 * Throws `bad_json`, or `message_too_deep`.
 */
export function parseFrame(frame: string | Buffer): unknown {
  if (typeof frame === 'string') return parseUsual(frame) ?? parseMessage(frame);
  const parsed = frame.length < longLineBytes ? undefined : parseWithLongStrings(frame);
  return parsed ?? parseFrame(frame.toString('utf8').trim());
}

/** Prints one JSON-RPC frame, strings of megabytes as the bytes that they came in. Throws as `printFrame` does. */
export function printFrameInPieces(message: unknown): Printed {
  return printWithTokens(() => printFrame(message));
}

/** Prints one JSON-RPC frame. Throws `message_too_deep` for nesting that the engine cannot print. */
export function printFrame(message: unknown): string {
  if (message instanceof ResultAnswer) {
    const text = rawTextOf(message.result);
    if (text !== undefined) return `{"jsonrpc":"2.0","id":${printJson(message.id)},"result":${text}}`;
  } else if (message instanceof Call && typeof message.params === 'object') {
    // Put together by hand: printing the frame around them costs more than the params.
    return `{"jsonrpc":"2.0","id":${message.id},"method":${JSON.stringify(message.method)},"params":${printMessage(message.params)}}`;
  }
  return printMessage(message);
}

/** Undefined for anything unusual: then the slow path parses the whole text, and reports what is wrong with it. */
function parseUsual(text: string): JsonObject | undefined {
  if (text.charCodeAt(text.length - 1) !== brace) return undefined;
  const head = headFirst.exec(text);
  if (head !== null) return toMessage(Number(head[1]), head[2], text.slice(head[0].length, -1));
  const isResult = text.startsWith(resultHead);
  const call = isResult ? null : callHead.exec(text);
  if (!isResult && call === null) return undefined;
  const end = tail.exec(text.slice(-longestTail));
  if (end === null) return undefined;
  const start = call === null ? resultHead.length - 1 : call[0].length;
  return toMessage(Number(end[1]), call?.[1], text.slice(start, text.length - end[0].length + 1));
}

function toMessage(id: number, method: string | undefined, inner: string): JsonObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(inner);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || needsSlowPath(inner, deepest)) return undefined;
  if (method !== undefined) return { jsonrpc: '2.0', id, method, params: value };
  // A line break between two tokens would break a line of ours in two.
  if (inner.length >= shortestKept && !inner.includes('\n') && !inner.includes('\r')) keepRawText(value, inner);
  return { jsonrpc: '2.0', id, result: value };
}
