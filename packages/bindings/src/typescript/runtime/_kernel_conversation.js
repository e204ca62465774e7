// In place of `_conversation.js` in a kernel of Notebridge: calls go to the host that runs the code, by no network.
import { failed, failure, late, ToolError } from './_errors.js';
import { toResult } from './_values.js';
import { encode, parse, toProgress } from './_wire.js';

/** @type {{ call(server: string, tool: string, body: string, options: { signal: AbortSignal, onEvent: ((line: string) => void) | undefined }): Promise<string> }} */
const host = /** @type {any} */ (globalThis).$notebridge;

/**
 * One call, from its arguments to its result.
 * @param {import('./_errors.js').Address} address @param {{ [key: string]: unknown }} arguments_ @param {import('./client.js').CallOptions} options
 */
export async function converse(address, arguments_, options) {
  const { signal, timeoutMs, onProgress } = options;
  // The line of the code that called: when the answer is there, the engine does not know it any more.
  const { stack: calledFrom = '' } = new Error();
  signal?.throwIfAborted();
  const body = encode(address, arguments_);
  const ending = new AbortController();
  const onAbort = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => ending.abort(late(address, timeoutMs)), timeoutMs);
  const onEvent = onProgress && ((/** @type {string} */ line) => hear(line, onProgress));
  try {
    const answer = parse(await host.call(address.server, address.tool, body, { signal: ending.signal, onEvent }));
    if (typeof answer?.success !== 'boolean') throw failure(address, 'The answer of the host was not understood.', 'bad_answer');
    if (!answer.success) throw failed(address, answer);
    return toResult(answer);
  } catch (error) {
    if (error instanceof ToolError) error.stack = `${error.stack ?? ''}${calledFrom}`;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** @param {string} line @param {NonNullable<import('./client.js').CallOptions['onProgress']>} onProgress */
function hear(line, onProgress) {
  const event = parse(line);
  if (event?.event === 'progress') onProgress(toProgress(event));
}
