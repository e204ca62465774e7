import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { MimeBundle } from '../../model/output.js';
import type { Completions } from '../kernel.js';

/** Sends a kernel a request; undefined where none can be sent now, or no reply comes in time. */
export type AskKernel = (type: string, content: JsonObject, timeoutMs: number) => Promise<JsonObject | undefined>;

const answerTimeoutMs = 10_000;
/** Enough for a picture that the kernel draws, with what it imports for that. */
const evaluationTimeoutMs = 30_000;

/** As `Kernel.complete`: none where the kernel gave none, or some that cannot be used. */
export async function completeCode(ask: AskKernel, code: string, position: number): Promise<Completions> {
  const reply = await ask('complete_request', { code, cursor_pos: toCodePoints(code, position) }, answerTimeoutMs);
  const { matches, cursor_start: start, cursor_end: end } = reply ?? {};
  const isUsable = Array.isArray(matches) && Number.isSafeInteger(start) && Number.isSafeInteger(end);
  if (!isUsable) return { matches: [], start: position, end: position };
  return {
    matches: matches.filter((match) => typeof match === 'string'),
    start: toUtf16(code, Number(start)),
    end: toUtf16(code, Number(end)),
  };
}

/** As `Kernel.inspect`. */
export async function inspectCode(ask: AskKernel, code: string, position: number, detail: 0 | 1): Promise<MimeBundle | undefined> {
  const content = { code, cursor_pos: toCodePoints(code, position), detail_level: detail };
  const { found, data } = (await ask('inspect_request', content, answerTimeoutMs)) ?? {};
  return found === true && isJsonObject(data) ? data : undefined;
}

/** As `Kernel.evaluate`: by a request that leaves no trace. */
export async function evaluateCode(ask: AskKernel, expression: string): Promise<string | undefined> {
  const content = { code: '', silent: true, store_history: false, user_expressions: { value: expression }, allow_stdin: false };
  const reply = await ask('execute_request', content, evaluationTimeoutMs);
  const { value } = (reply?.user_expressions ?? {}) as { value?: { data?: { 'text/plain'?: unknown } } };
  const text = value?.data?.['text/plain'];
  return typeof text === 'string' ? /^'([^'\\]*)'$/.exec(text)?.[1] : undefined;
}

/** A place in code as Jupyter counts it: in characters, where JavaScript counts halves of them. */
function toCodePoints(code: string, position: number): number {
  return [...code.slice(0, position)].length;
}

function toUtf16(code: string, count: number): number {
  return [...code].slice(0, count).join('').length;
}
