import type { JsonObject } from '@notebridge/kit/json';
import type { MimeBundle } from '../../model/output.js';
import type { Completions } from '../kernel.js';

/** A place in code as Jupyter counts it: in characters, where JavaScript counts halves of them. */
export function toCodePoints(code: string, position: number): number {
  return [...code.slice(0, position)].length;
}

function toUtf16(code: string, count: number): number {
  return [...code].slice(0, count).join('').length;
}

/** A kernel's answer to a `complete_request`; none where it gave none, or one that cannot be used. */
export function toCompletions(code: string, position: number, reply: JsonObject | undefined): Completions {
  const { matches, cursor_start: start, cursor_end: end } = reply ?? {};
  const isUsable = Array.isArray(matches) && Number.isSafeInteger(start) && Number.isSafeInteger(end);
  if (!isUsable) return { matches: [], start: position, end: position };
  return {
    matches: matches.filter((match) => typeof match === 'string'),
    start: toUtf16(code, Number(start)),
    end: toUtf16(code, Number(end)),
  };
}

/** What a kernel answers to `toEvaluation`, if that is a text that stands in quotes as it is. */
export function toEvaluated(reply: JsonObject | undefined): string | undefined {
  const { value } = (reply?.user_expressions ?? {}) as { value?: { data?: { 'text/plain'?: unknown } } };
  const text = value?.data?.['text/plain'];
  return typeof text === 'string' ? /^'([^'\\]*)'$/.exec(text)?.[1] : undefined;
}

/** An `execute_request` that leaves no trace. */
export function toEvaluation(expression: string): JsonObject {
  return { code: '', silent: true, store_history: false, user_expressions: { value: expression }, allow_stdin: false };
}

/** A kernel's answer to an `inspect_request`. */
export function toInspection(reply: JsonObject | undefined): MimeBundle | undefined {
  const data = reply?.found === true ? reply.data : undefined;
  return typeof data === 'object' && data !== null ? (data as MimeBundle) : undefined;
}
