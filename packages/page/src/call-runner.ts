import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Agent, PageTool } from './definitions.js';
import { failedResult, toToolResult } from './results.js';
import { parseArguments } from './schema.js';

/** A tool that an agent runs. */
export interface PageCall {
  /** Unique in the session. */
  readonly id: number;
  readonly tool: string;
  /** As the agent sent them, not checked yet. */
  readonly args: JsonObject;
  readonly agent: Agent;
  /** Aborts the tool's signal and reports to the agent that the person stopped it. Harmless when it has ended. */
  stop(): void;
}

/** `failed` covers faulty arguments too; `cancelled` is by the agent or the end of the connection, `stopped` by the person. */
export type CallOutcome = 'done' | 'failed' | 'cancelled' | 'stopped';

export type CallEvent =
  | { readonly type: 'began'; readonly call: PageCall }
  | { readonly type: 'progress'; readonly call: PageCall; readonly progress: number; readonly total?: number; readonly message?: string }
  | { readonly type: 'ended'; readonly call: PageCall; readonly outcome: CallOutcome };

export interface CallRequest {
  tool: PageTool;
  args: JsonObject;
  agent: Agent;
  /** Aborts when the agent cancels or the connection ends. */
  signal: AbortSignal;
  sendProgress: (progress: { progress: number; total?: number; message?: string }) => void;
}

/** Resolves to an MCP result, also of a tool that fails; a tool that ignores its signal is not waited for. */
export type RunCall = (request: CallRequest) => Promise<JsonObject>;

/** Runs tools, and reports the start and end of each call, which can be stopped. */
export function createCallRunner(onEvent: (event: CallEvent) => void): RunCall {
  let lastId = 0;
  return async ({ tool, args, agent, signal, sendProgress }) => {
    const controller = new AbortController();
    const cancel = (): void => controller.abort(signal.reason);
    signal.addEventListener('abort', cancel, { once: true });
    let outcome: CallOutcome | undefined;
    const stop = (): void => controller.abort(new DOMException(`The person at the page stopped "${tool.name}".`, 'AbortError'));
    const call: PageCall = { id: ++lastId, tool: tool.name, args, agent, stop };
    const progress = (value: number, total?: number, message?: string): void => {
      if (outcome !== undefined) return;
      const told = { progress: value, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) };
      sendProgress(told);
      onEvent({ type: 'progress', call, ...told });
    };

    onEvent({ type: 'began', call });
    try {
      const work = async (): Promise<JsonObject> => {
        const parsed = (await parseArguments(tool.inputSchema, args)) as JsonObject;
        controller.signal.throwIfAborted();
        return toToolResult(await tool.run(parsed, { signal: controller.signal, progress, agent }));
      };
      const result = await Promise.race([work(), rejectWhenAborted(controller.signal)]);
      outcome = result.isError === true ? 'failed' : 'done';
      return result;
    } catch (error) {
      outcome = signal.aborted ? 'cancelled' : controller.signal.aborted ? 'stopped' : 'failed';
      return failedResult(messageOf(error));
    } finally {
      signal.removeEventListener('abort', cancel);
      onEvent({ type: 'ended', call, outcome: outcome ?? 'failed' });
    }
  };
}

function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}
