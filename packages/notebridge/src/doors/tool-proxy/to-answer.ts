import { parseJson } from '@notebridge/kit/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { errorTable } from '../../core/errors.js';
import { errorCodeMetaKey } from '../../core/mcp.js';
import { joinStrings, LongString, longStringOf, setLongString } from '../../rpc/long-strings.js';
import { isPrintedIn } from './is-printed-in.js';

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
  const blocks = isEmpty(content) ? [] : content;
  if (!isTextList(blocks)) answer.result = content;
  else if (blocks.length > 0) {
    setText(answer, 'result', joinTexts(blocks));
    if (blocks.length === 1) parseContainer(answer);
    if (!isOnlyPlainText(content)) answer.content = content;
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
  if (value instanceof LongString) setLongString(answer, key, value);
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
