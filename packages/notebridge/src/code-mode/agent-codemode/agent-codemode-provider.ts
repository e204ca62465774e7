import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../../core/call-context.js';
import { BridgeError } from '../../core/errors.js';
import { errorCodeMetaKey, type Tool, type ToolResult, toFailedResult } from '../../core/mcp.js';
import { owner, type Principal } from '../../core/principal.js';
import type { SavedSkill } from '../../core/saved-skills.js';
import type { ToolAddress } from '../../core/tool-address.js';
import { ToolsOnlyProvider } from '../../core/tools-only-provider.js';
import { toPlainValue } from '../../core/wire.js';
import { quote } from '../../util/quote.js';
import type { ExecutionOutcome } from '../execution/answer.js';
import type { CodeExecutor, Present } from '../execution/code-executor.js';
import { readArguments, textOf, wrongArgument } from '../read-arguments.js';
import type { ToolSearch } from '../search/tool-search.js';
import { agentCodemodeInstructions } from './agent-codemode-tools.js';
import type { CallHistory } from './call-history.js';
import { answerOfCode, answerOfSkill } from './execution-answers.js';
import { ToolLists } from './tool-lists.js';

/** Calls one tool in the name of the caller, through the hub's chain. Rejects as that does. */
export type CallDirectly = (address: ToolAddress, args: JsonObject, context: CallContext) => Promise<ToolResult>;

export interface AgentCodemodeOptions {
  tools: readonly Tool[];
  search: ToolSearch;
  executor: CodeExecutor;
  /** The saved skills that a caller may run. */
  skillsOf: (principal: Principal) => readonly SavedSkill[];
  history: CallHistory;
  callDirectly: CallDirectly;
  /** The longest that an execution may run. */
  maxSeconds: number;
}

const defaultSeconds = 30;

/** The tools of `agent-codemode`, for its users: names, arguments and answers are theirs, what is behind them is ours. */
export class AgentCodemodeProvider extends ToolsOnlyProvider {
  readonly name = 'code mode';
  readonly instructions = agentCodemodeInstructions;
  readonly #options: AgentCodemodeOptions;
  readonly #lists: ToolLists;

  constructor(options: AgentCodemodeOptions) {
    super();
    this.#options = options;
    this.#lists = new ToolLists(options.search);
  }

  hasTool(name: unknown): boolean {
    return this.#options.tools.some((tool) => tool.name === name);
  }

  protected listTools(): JsonObject {
    this.#options.executor.prepare();
    return { tools: [...this.#options.tools] };
  }

  /** A failure is an answer too, as there; what the arguments have wrong is marked as failed. */
  protected async callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    const tool = this.#options.tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new BridgeError('unknown_tool', `Code mode has no tool ${quote(params.name)}.`);
    try {
      const args = readArguments(toPlainValue(params.arguments ?? {}), tool.inputSchema);
      const given = await this.#call(tool.name, args, context);
      return 'content' in given ? (given as ToolResult) : toJsonResult(given);
    } catch (error) {
      if (!(error instanceof BridgeError) || error.code === 'cancelled' || error.code === 'closed') throw error;
      if (error.code === 'invalid_arguments') return toFailedResult(error.code, error.message);
      const failed = toJsonResult({ success: false, result: null, output: '', error: error.message });
      return { ...failed, _meta: { [errorCodeMetaKey]: error.code } };
    }
  }

  #call(name: string, args: JsonObject, context: CallContext): JsonObject | Promise<JsonObject> {
    switch (name) {
      case 'search_tools':
        return this.#lists.search(args, context);
      case 'list_tool_names':
        return this.#lists.names(args, context);
      case 'list_servers':
        return this.#lists.servers(context);
      case 'get_tool_details':
        return this.#lists.details(needed(args, 'tool_name'), context);
      case 'execute_code':
        return this.#run(needed(args, 'code'), { seconds: secondsOf(args.timeout), answer: answerOfCode }, context);
      case 'call_tool':
        return this.#callDirectly(args, context);
      case 'save_skill':
        return this.#save(args, context);
      case 'run_skill': {
        const code = `await __import__("generated.skills._saved", fromlist=["report"]).report(${literal(needed(args, 'name'))}, ${literal(args.arguments ?? {})})`;
        return this.#run(code, { seconds: this.#options.maxSeconds, answer: answerOfSkill }, context);
      }
      case 'list_skills':
        return this.#listSkills(args, context);
      case 'delete_skill':
        return this.#deleteSkill(needed(args, 'name'), context);
      default:
        return this.#pastCalls(args, context);
    }
  }

  #run(
    code: string,
    { seconds, answer }: { seconds: number; answer: Parameters<typeof toPresent>[0] },
    context: CallContext,
  ): Promise<ToolResult> {
    const { executor, maxSeconds } = this.#options;
    return executor.run(code, { seconds: Math.min(seconds, maxSeconds), present: toPresent(answer) }, context);
  }

  async #callDirectly(args: JsonObject, context: CallContext): Promise<JsonObject> {
    const name = needed(args, 'tool_name');
    if (!isJsonObject(args.arguments)) throw wrongArgument(`"arguments" must be an object, found ${quote(args.arguments)}.`);
    const found = await this.#lists.find(name, context);
    if (found === undefined) return { success: true, result: { error: `Tool not found: ${name}` }, error: null };
    const result = await this.#options.callDirectly({ server: found.server, tool: found.tool.name }, args.arguments, context);
    return { success: true, result, error: null };
  }

  /** By code too: so it is tested, guarded and recorded like what code saves. */
  async #save(args: JsonObject, context: CallContext): Promise<ToolResult> {
    const name = needed(args, 'name');
    const code = `await __import__("generated.skills._saved", fromlist=["save"]).save(${literal(args)})`;
    return this.#run(
      code,
      {
        seconds: this.#options.maxSeconds,
        answer: (outcome) => {
          const { success, error } = answerOfCode(outcome);
          const last = outcome.outputs.findLast(({ output_type }) => output_type === 'error');
          return { success, skill_id: success === true ? name : null, error: last === undefined ? error : String(last.evalue) };
        },
      },
      context,
    );
  }

  #listSkills({ tags }: JsonObject, { caller: { principal = owner } }: CallContext): JsonObject {
    const wanted = Array.isArray(tags) ? tags : [];
    const seen = this.#options.skillsOf(principal).filter((skill) => wanted.length === 0 || skill.tags.some((tag) => wanted.includes(tag)));
    return { skills: seen.map(({ name, description, tags: own }) => ({ name, description, tags: own })), total: seen.length };
  }

  /** By code, as `#save`. */
  #deleteSkill(name: string, context: CallContext): Promise<ToolResult> {
    const code = `await __import__("generated.skills._saved", fromlist=["delete"]).delete(${literal(name)})`;
    const answer = (outcome: ExecutionOutcome): JsonObject => {
      const { success, error, result } = answerOfCode(outcome);
      if (success !== true) return { success: false, error };
      return result === 'True' ? { success, error: null } : { success: false, error: `Skill not found: ${name}` };
    };
    return this.#run(code, { seconds: this.#options.maxSeconds, answer }, context);
  }

  #pastCalls({ limit }: JsonObject, { caller: { principal = owner } }: CallContext): JsonObject {
    const { calls, total } = this.#options.history.of(principal);
    const wanted = typeof limit === 'number' && limit > 0 ? Math.floor(limit) : 10;
    const history = calls.slice(-wanted).map(({ tool, outcome, seconds }) => {
      const [server = '', ...rest] = tool.split('.');
      const success = outcome === 'ok';
      return { tool_name: `${server}__${rest.join('.')}`, success, execution_time: seconds, error: success ? null : outcome };
    });
    return { history, total };
  }
}

function toPresent(answer: (outcome: Parameters<Present>[0]) => JsonObject): Present {
  return async (outcome) => toJsonResult(answer(outcome));
}

function toJsonResult(answer: JsonObject): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer, null, 2) }] };
}

function needed(args: JsonObject, key: string): string {
  const value = textOf(args, key);
  if (value !== undefined) return value;
  throw wrongArgument(`"${key}" is missing.`);
}

/** A value as JSON, in a literal of Python: a literal of JSON is one. */
function literal(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value : JSON.stringify(value));
}

function secondsOf(timeout: unknown): number {
  return typeof timeout === 'number' && timeout > 0 ? Math.max(1, Math.ceil(timeout)) : defaultSeconds;
}
