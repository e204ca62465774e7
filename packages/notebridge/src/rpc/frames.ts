import { printJson } from '@notebridge/kit/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { needsSlowPath } from '@notebridge/kit/odd-numbers';
import { type Printed, parseMessage, printMessage } from '../core/wire.js';
import { longLineBytes, parseWithLongStrings } from './long-strings-parser.js';
import type { RpcId } from './messages.js';
import { keepRawText, printWithTokens, rawTextOf } from './unread-members.js';

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
