import { codeOf, errorTable } from '@notebridge/protocol/core/errors';
import { errorCodeMetaKey } from '@notebridge/protocol/core/mcp';
import { byteLengthOf, type Printed, printMessage } from '@notebridge/protocol/core/wire';
import { parseJson } from '@notebridge/protocol/exact-json';
import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { joinStrings, LongString, longStringOf, printWithTokens, setUnread } from '@notebridge/protocol/rpc/unread-members';
import { messageOf } from '@notebridge/protocol/util/message-of';

/** What a tool's result becomes for code: the members that the result decides. */
export interface CallAnswer {
  success: boolean;
  /** The value, as exact as the server gave it. */
  result: unknown;
  error: string | null;
  is_error: boolean;
  /** The blocks as they came; left out where `result` carries all of them. Empty where the tool gave an empty list and nothing else. */
  content?: unknown;
  /** Left out where it is `result`, or `result` is the one value in it. */
  structured_content?: unknown;
  meta: JsonObject | null;
  error_code: string | null;
  /** What the server says of its error besides the text. Left out: nothing. */
  error_data?: unknown;
}

/** The answer to a call, as it is printed. */
export interface ToolCallResponse extends CallAnswer {
  /** The call's id in the log. */
  call_id: string;
  /** How long the call took in the hub, milliseconds. */
  duration_ms: number;
}

/** A call that was not made, or whose tool did not answer. */
export function failedAnswer(errorCode: string, error: string): CallAnswer {
  return { success: false, result: null, error, is_error: false, meta: null, error_code: errorCode };
}

/**
 * Turns a tool's result into the answer to code. `result` is, in this order: the structured content (a lone `{"result": X}`
 * becomes X); one text that is a JSON object or array, parsed; texts, joined by newline; with any block that is no text, the
 * full list of blocks; an empty list of blocks is itself. Without any content it is null. Only structured content is exact: a text that reads `true` stays text.
 */
export function toAnswer(toolResult: JsonObject): CallAnswer {
  const { content, _meta } = toolResult;
  // Some servers print what they leave out as null.
  const structured = toolResult.structuredContent ?? undefined;
  const meta = isJsonObject(_meta) ? _meta : null;
  if (toolResult.isError === true) return toFailedAnswer(content, structured, meta);
  const answer: CallAnswer = { success: true, result: null, error: null, is_error: false, meta, error_code: null };
  if (structured !== undefined) {
    setText(answer, 'result', longResultIn(structured) ?? unwrap(structured));
    if (!isEmpty(content) && !repeats(content, structured, answer)) answer.content = content;
    return answer;
  }
  if (isOnlyPlainText(content)) {
    const [block] = content;
    setText(answer, 'result', longStringOf(block, 'text') ?? block.text);
    parseContainer(answer);
    return answer;
  }
  const blocks = isEmpty(content) ? [] : content;
  if (!isTextList(blocks)) answer.result = content;
  else if (blocks.length > 0) {
    setText(answer, 'result', joinTexts(blocks));
    if (blocks.length === 1) parseContainer(answer);
    answer.content = content;
  } else if (Array.isArray(content)) {
    // Beside it too, since an empty list may also be the structured content.
    answer.result = answer.content = content;
  }
  return answer;
}

function toFailedAnswer(content: unknown, structured: unknown, meta: JsonObject | null): CallAnswer {
  const text = joinTexts(Array.isArray(content) ? content.filter(isText) : []);
  const answer: CallAnswer = { success: false, result: null, error: null, is_error: true, meta, error_code: errorCodeIn(meta) };
  setText(answer, 'result', text);
  setText(answer, 'error', text === '' ? 'The tool failed and did not say why.' : text);
  if (!isEmpty(content) && !isOnlyPlainText(content)) answer.content = content;
  if (structured !== undefined) answer.structured_content = structured;
  return answer;
}

/** Python's servers wrap what is no object: a lone `{"result": X}` is X. */
function unwrap(structured: unknown): unknown {
  if (!isJsonObject(structured) || !Object.hasOwn(structured, 'result')) return structured;
  return Object.keys(structured).length === 1 ? structured.result : structured;
}

/** The long string that `unwrap` would give. */
function longResultIn(structured: unknown): LongString | undefined {
  if (!isJsonObject(structured)) return undefined;
  const long = longStringOf(structured, 'result');
  return long !== undefined && Object.keys(structured).length === 1 ? long : undefined;
}

/** True if the content is one text that says what the structured content says, as servers do for older clients. */
function repeats(content: unknown, structured: unknown, answer: CallAnswer): boolean {
  if (!isOnlyPlainText(content)) return false;
  const [block] = content;
  const long = longStringOf(block, 'text');
  if (long !== undefined && longStringOf(answer, 'result')?.token.equals(long.token) === true) return true;
  const { text } = block;
  const { result } = answer;
  return text === result || isPrintedIn(text, structured) || isPrintedIn(text, result);
}

/** Sets a member of the answer; a long string stays unread. */
function setText(answer: CallAnswer, key: 'result' | 'error', value: unknown): void {
  if (value instanceof LongString) setUnread(answer, key, value);
  else answer[key] = value as string;
}

function joinTexts(blocks: readonly Text[]): string | LongString {
  const texts = blocks.map((block) => longStringOf(block, 'text') ?? block.text);
  return joinStrings(texts, '\n');
}

/** True for content that is one block and nothing but its text. */
function isOnlyPlainText(content: unknown): content is [Text] {
  if (!Array.isArray(content) || content.length !== 1) return false;
  const [block] = content;
  return isText(block) && Object.keys(block).length === 2;
}

function isTextList(content: unknown): content is Text[] {
  return Array.isArray(content) && content.every(isText);
}

function isEmpty(content: unknown): boolean {
  return content === undefined || content === null || (Array.isArray(content) && content.length === 0);
}

interface Text {
  type: 'text';
  text: string;
}

function isText(block: unknown): block is Text & JsonObject {
  if (!isJsonObject(block) || block.type !== 'text') return false;
  return longStringOf(block, 'text') !== undefined || typeof block.text === 'string';
}

const beginsContainer = /^[ \t\r\n]*[[{]/;
/** The same for what stands behind the quote of a token; an escape as \uXXXX may stand for anything. */
const mayBeginContainer = /^"(?: |\\[trn])*(?:[[{]|\\u|\\?$)/;

/** Puts the value in place of a text that is a JSON object or array; any other text stays as it is, and a long one unread. */
function parseContainer(answer: CallAnswer): void {
  const long = longStringOf(answer, 'result');
  if (long !== undefined && !mayBeginContainer.test(long.token.toString('latin1', 0, 100))) return;
  const text = answer.result as string;
  if (!beginsContainer.test(text)) return;
  try {
    answer.result = parseJson(text);
  } catch {
    // It only begins like one.
  }
}

/** A failed result of another Notebridge says why in its metadata. */
function errorCodeIn(meta: JsonObject | null): string | null {
  const code = meta?.[errorCodeMetaKey];
  return typeof code === 'string' && Object.hasOwn(errorTable, code) ? code : null;
}

/**
 * Prints an answer, at most `maxBytes` of UTF-8; one that is larger, or nested too deeply to be printed, becomes a failed one. The
 * known members are strung together and the result is printed once, also where it is the error as well: it may be megabytes.
 * Long strings that were not changed on their way keep the bytes with which they came.
 */
export function printAnswer(response: ToolCallResponse, maxBytes: number): Printed {
  const { call_id, duration_ms } = response;
  try {
    const text = printWithTokens(() => print(response));
    // A UTF-16 unit is at most three bytes.
    if (typeof text === 'string' && text.length * 3 <= maxBytes) return text;
    if (byteLengthOf(text) <= maxBytes) return text;
    return print({ ...failedAnswer('result_too_large', tooLarge(maxBytes)), call_id, duration_ms });
  } catch (error) {
    return print({ ...failedAnswer(codeOf(error) ?? 'result_too_large', messageOf(error)), call_id, duration_ms });
  }
}

function print({
  success,
  result,
  error,
  is_error,
  content,
  structured_content,
  meta,
  error_code,
  error_data,
  call_id,
  duration_ms,
}: ToolCallResponse): string {
  const printed = printValue(result);
  const printedError = error === null ? 'null' : error === result ? printed : JSON.stringify(error);
  let text = `{"success":${success},"result":${printed},"error":${printedError},"is_error":${is_error}`;
  if (content !== undefined) text += `,"content":${printValue(content)}`;
  if (structured_content !== undefined) text += `,"structured_content":${printValue(structured_content)}`;
  const code = error_code === null ? 'null' : JSON.stringify(error_code);
  const data = error_data === undefined ? '' : `,"error_data":${printValue(error_data)}`;
  return `${text},"meta":${meta === null ? 'null' : printValue(meta)},"error_code":${code}${data},"call_id":${JSON.stringify(call_id)},"duration_ms":${duration_ms}}`;
}

/** What has no JSON, from a server of this process, is null. */
function printValue(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : (printMessage(value) ?? 'null');
}

function tooLarge(maxBytes: number): string {
  return `The result is larger than ${maxBytes} bytes. Ask for less at once, or raise notebridge.limits.maxResultBytes.`;
}

/**
 * True if the text is the value as JSON, whatever its white space, with members in the same order. Compared in one pass over the
 * text that stops at the first difference, since both may be large; a text that escapes more than needed counts as different.
 */
export function isPrintedIn(text: string, value: unknown): boolean {
  try {
    return skipSpace(text, match(text, 0, value)) === text.length;
  } catch (error) {
    // Nested more deeply than the stack.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Where nothing can follow: makes every further comparison fail. */
const nowhere = Number.POSITIVE_INFINITY;

/** The place behind the value, or `nowhere`. */
function match(text: string, from: number, value: unknown): number {
  const at = skipSpace(text, from);
  if (Array.isArray(value)) return matchList(text, at, value, match, '[]');
  if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber))
    return matchList(text, at, Object.entries(value), matchMember, '{}');
  return expect(text, at, value instanceof ExactNumber ? value.source : (JSON.stringify(value) ?? 'null'));
}

function matchMember(text: string, from: number, [key, value]: [string, unknown]): number {
  const behindKey = expect(text, skipSpace(text, from), JSON.stringify(key));
  return match(text, expect(text, skipSpace(text, behindKey), ':'), value);
}

function matchList<Item>(text: string, from: number, items: readonly Item[], matchItem: MatchItem<Item>, brackets: '[]' | '{}'): number {
  let at = expect(text, from, brackets.charAt(0));
  for (let index = 0; index < items.length && at !== nowhere; index++) {
    if (index > 0) at = expect(text, skipSpace(text, at), ',');
    at = matchItem(text, at, items[index] as Item);
  }
  return expect(text, skipSpace(text, at), brackets.charAt(1));
}

type MatchItem<Item> = (text: string, from: number, item: Item) => number;

function expect(text: string, at: number, wanted: string): number {
  return text.startsWith(wanted, at) && at !== nowhere ? at + wanted.length : nowhere;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}
