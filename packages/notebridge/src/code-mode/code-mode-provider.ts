import type { JsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../core/call-context.js';
import { BridgeError } from '../core/errors.js';
import type { Tool, ToolResult } from '../core/mcp.js';
import { ToolsOnlyProvider } from '../core/tools-only-provider.js';
import { toPlainValue } from '../core/wire.js';
import { quote } from '../util/quote.js';
import { codeModeInstructions } from './code-mode-tools.js';
import { AskedExecutions } from './execution/asked-executions.js';
import type { CodeExecutor } from './execution/code-executor.js';
import { executeCodeName } from './execution/execute-params.js';
import { describeToolsTool, searchToolsTool } from './search/definitions.js';
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
  readonly #names: ReadonlySet<string>;
  readonly #asked: AskedExecutions;

  constructor(options: CodeModeProviderOptions) {
    super();
    this.#options = options;
    this.#asked = new AskedExecutions(options.answerTimeoutMs);
    this.#names = new Set(options.tools.map(({ name }) => name));
  }

  /** They are ours wherever they are asked for, also where a page or a server has tools of the same names. */
  hasTool(name: unknown): boolean {
    return typeof name === 'string' && this.#names.has(name);
  }

  protected listTools(): JsonObject {
    this.#options.executor.prepare();
    return { tools: [...this.#options.tools] };
  }

  protected callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    const { search, executor } = this.#options;
    const args = toPlainValue(params.arguments ?? {});
    switch (params.name) {
      case searchToolsTool.name:
        return search.search(args, context);
      case describeToolsTool.name:
        return search.describe(args, context);
      case executeCodeName:
        return this.#asked.run(params, context, (asking) => executor.call(args, asking));
      default:
        return Promise.reject(new BridgeError('unknown_tool', `Code mode has no tool ${quote(params.name)}.`));
    }
  }
}
