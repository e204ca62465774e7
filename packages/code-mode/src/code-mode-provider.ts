import type { CallContext } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Tool, ToolResult } from '@notebridge/protocol/core/mcp';
import type { Ask } from '@notebridge/protocol/core/questions';
import { ToolsOnlyProvider } from '@notebridge/protocol/core/tools-only-provider';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import type { AskedCall } from '@notebridge/protocol/questions/asked-call';
import { AskedCalls } from '@notebridge/protocol/questions/asked-calls';
import { quote } from '@notebridge/protocol/util/quote';
import { codeModeInstructions } from './code-mode-tools.js';
import type { CodeExecutor } from './execution/code-executor.js';
import { executeCodeName } from './execution/execute-params.js';
import { describeToolsTool, searchToolsTool } from './search/search-params.js';
import type { ToolSearch } from './search/tool-search.js';

export interface CodeModeProviderOptions {
  tools: readonly Tool[];
  search: ToolSearch;
  executor: CodeExecutor;
  /** How long an agent may take to answer what is asked in the middle of its code. Milliseconds. */
  answerTimeoutMs: number;
}

/** Three tools in place of all: search, describe, and code that calls them. */
export class CodeModeProvider extends ToolsOnlyProvider {
  readonly name = 'code mode';
  readonly instructions = codeModeInstructions;
  readonly #options: CodeModeProviderOptions;
  /** Calls of agents that are asked by an answer (`input_required`). One that waits for an answer is taken up by the call that brings it. */
  readonly #asked: AskedCalls;

  constructor(options: CodeModeProviderOptions) {
    super();
    this.#options = options;
    // Who asks, a server or the guard, has said so already.
    this.#asked = new AskedCalls({ server: 'code-mode', isNamed: true, tie: 'stream', timeoutMs: options.answerTimeoutMs });
  }

  /** They are ours wherever they are asked for, also where a page or a server has tools of the same names. */
  hasTool(name: unknown): boolean {
    return this.#options.tools.some((tool) => tool.name === name);
  }

  protected listTools(): JsonObject {
    this.#options.executor.prepare();
    return { tools: [...this.#options.tools] };
  }

  protected callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    const { search } = this.#options;
    switch (params.name) {
      case searchToolsTool.name:
        return search.search(toArguments(params), context);
      case describeToolsTool.name:
        return search.describe(toArguments(params), context);
      case executeCodeName:
        return this.#execute(params, context);
      default:
        return Promise.reject(new BridgeError('unknown_tool', `Code mode has no tool ${quote(params.name)}.`));
    }
  }

  /** To the code it is all one by what its agent is asked: it can be asked while the code waits. */
  #execute(params: JsonObject, context: CallContext): Promise<ToolResult> {
    const { executor } = this.#options;
    const call = { method: 'tools/call', params, context };
    if (params.requestState !== undefined) return this.#asked.resume(call);
    if (context.clientCapabilities === undefined || context.ask !== undefined) return executor.call(toArguments(params), context);
    return this.#asked.run({
      ...call,
      send: ({ cancellation = context.cancellation, onProgress }, asked) => {
        const forwardProgress = onProgress ?? ((progress: JsonObject) => context.forwardProgress(progress));
        const { callId, caller, parent, isTyped, target, clientCapabilities, wantsProgress } = context;
        const ask: Ask = (question, options) => askIn(asked, question, options);
        const log: CallContext['log'] = (level, data, logger) => context.log(level, data, logger);
        const { signal } = cancellation;
        const of = { callId, caller, parent, isTyped, target, clientCapabilities, wantsProgress };
        return executor.call(toArguments(params), { ...of, cancellation, signal, ask, forwardProgress, log });
      },
    });
  }
}

function toArguments(params: JsonObject): unknown {
  return toPlainValue(params.arguments ?? {});
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
