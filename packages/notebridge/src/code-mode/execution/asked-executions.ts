import type { JsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../../core/call-context.js';
import { Cancellation } from '../../core/cancellation.js';
import type { ToolResult } from '../../core/mcp.js';
import type { Ask } from '../../core/questions.js';
import type { AskedCall } from '../../questions/asked-call.js';
import { AskedCalls } from '../../questions/asked-calls.js';

/** Runs `execute_code`, whose agent may be asked by `context.ask`. */
export type Execute = (context: CallContext) => Promise<ToolResult>;

/**
 * The calls of `execute_code` of agents that are asked by an answer (`input_required`). To the code it is all one: its agent can be asked
 * while it waits. A call that waits for an answer is taken up by the one that brings it.
 */
export class AskedExecutions {
  readonly #asked: AskedCalls;

  /** `timeoutMs`: how long an agent may take to answer. */
  constructor(timeoutMs: number) {
    // Who asks, a server or the guard, has said so already.
    this.#asked = new AskedCalls({ server: 'code-mode', isNamed: true, tie: 'stream', timeoutMs });
  }

  run(params: JsonObject, context: CallContext, execute: Execute): Promise<ToolResult> {
    const call = { method: 'tools/call', params, context };
    if (params.requestState !== undefined) return this.#asked.resume(call);
    if (context.clientCapabilities === undefined || context.ask !== undefined) return execute(context);
    return this.#asked.run({
      ...call,
      send: ({ cancellation = context.cancellation, onProgress }, asked) => {
        const forwardProgress = onProgress ?? ((progress: JsonObject) => context.forwardProgress(progress));
        const { callId, caller, parent, isTyped, target, clientCapabilities, wantsProgress } = context;
        const ask: Ask = (question, options) => askIn(asked, question, options);
        const log: CallContext['log'] = (level, data, logger) => context.log(level, data, logger);
        const { signal } = cancellation;
        const of = { callId, caller, parent, isTyped, target, clientCapabilities, wantsProgress };
        return execute({ ...of, cancellation, signal, ask, forwardProgress, log });
      },
    });
  }
}

/** After the time the question ends as one that nobody answered. */
async function askIn(asked: AskedCall, ...[question, { cancellation, timeoutMs }]: Parameters<Ask>): Promise<JsonObject> {
  const asking = new Cancellation();
  const stopListening = cancellation.onCancel((reason) => asking.cancel(reason));
  const timer = setTimeout(() => asking.cancel(`nobody answered it within ${timeoutMs} ms`), timeoutMs);
  try {
    return await asked.ask(question, asking);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}
