import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { fitArguments } from '@notebridge/protocol/core/fit-arguments';
import { type Tool, type ToolResult, toFailedResult, toTextResult } from '@notebridge/protocol/core/mcp';
import type { ParamHeader } from '@notebridge/protocol/core/param-headers';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { AgentNotebooks } from './agent-notebooks.js';
import { NotebookConnector } from './notebook-connector.js';
import type { NotebookDirectory, NotebookLink } from './notebook-directory.js';
import { NotebookLinks } from './notebook-links.js';
import {
  connectNotebookTool,
  describeSelectionTools,
  disconnectNotebookTool,
  listNotebooksTool,
  notebookArgument,
  selectionInstructions,
  selectionTools,
  withHostMarks,
  withNotebookArgument,
} from './selection-tools.js';

export interface NotebookSelectionOptions {
  /** The notebook of the command line, which every agent of this process begins with. It is closed by whoever opened it. */
  first: NotebookLink;
  /** True: the first is none; it answers, with what an agent may choose from, while that agent uses no other. Default false. */
  beginsWithNone?: boolean | undefined;
  directory: NotebookDirectory;
  /** False: the tools about notebooks, and the argument, are accepted and not listed. Default true. */
  isListed?: boolean | undefined;
  /**
   * A tool: where the first has it, and in its list alone, the tools about notebooks are listed; the argument is, and nothing is said of it, only
   * for an agent that uses several. Default: both always are.
   */
  listedBeside?: string | undefined;
  /** Tools of the first that are there whatever is selected, and go to it unless the selected one has them too. Default: none. */
  lastingTools?: ReadonlySet<string> | undefined;
  /** Whether a caller may use other notebooks than the first, which is all that it knows otherwise. Default: each may. */
  mayChoose?: ((context: CallContext) => boolean) | undefined;
}

/** Agents of one process. */
const maxAgents = 1000;

/**
 * The notebooks of this process's agents as one provider: each agent has its own selection, and each call goes to the notebook that it
 * names, or to the one selected; where neither says which one is meant, nothing is called.
 */
export class NotebookSelection implements Provider {
  readonly name = 'notebook';
  readonly #options: NotebookSelectionOptions;
  readonly #events = new Listeners<ProviderEvent>();
  readonly #agents = new Map<string, AgentNotebooks>();
  readonly #links: NotebookLinks;
  readonly #connector: NotebookConnector;
  /** As it was listed last. */
  readonly #known = new WeakMap<NotebookLink, KnownTools>();
  readonly #unsubscribe: () => void;

  constructor(options: NotebookSelectionOptions) {
    const { first, directory } = options;
    this.#options = options;
    this.#links = new NotebookLinks({ first, onEvent: (event, link) => this.#pass(event, link) });
    const onSelected = (sessionId: string): void => this.#events.emit({ method: toolsChanged, sessionId });
    this.#connector = new NotebookConnector({ directory, links: this.#links, onSelected });
    this.#unsubscribe = first.subscribe((event) => this.#pass(event, first));
  }

  get instructions(): string {
    const { first, isListed = true, listedBeside } = this.#options;
    return `${first.instructions ?? ''}${isListed && listedBeside === undefined ? selectionInstructions : ''}`;
  }

  // Most calls go to the one notebook that there is: each promise between would be felt in all of them.
  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { first, mayChoose } = this.#options;
    if (mayChoose?.(context) === false) return first.request(method, params, context);
    const agent = this.#agentOf(context.caller.sessionId);
    if (method === 'tools/list') return this.#listTools(agent, params, context);
    if (method !== 'tools/call') return this.#requestOfCurrent(agent, method, params, context);
    const link = this.#certain(agent, params);
    return link === undefined ? this.#callTool(agent, params, context) : link.request(method, this.#fitted(link, params), context);
  }

  async #requestOfCurrent(agent: AgentNotebooks, method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const link = this.#currentOf(agent);
    if (link === undefined) throw await this.#connector.ambiguity(agent);
    return link.request(method, params, context);
  }

  /** Whose call it is, is not known yet: while there are several notebooks, a tool of one says nothing of that of another. */
  paramHeadersOf(tool: unknown): readonly ParamHeader[] {
    const [only, ...others] = this.#links.all();
    return others.length > 0 ? [] : (only?.paramHeadersOf?.(tool) ?? []);
  }

  notify(method: string, params: JsonObject | undefined): void {
    for (const link of this.#links.all()) link.notify(method, params);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#events.add(listener);
  }

  /** What the agent of this session used is with another hub, or gone: it says which notebook it means before anything is called. */
  beginWithNone(sessionId: string): void {
    this.#agents.set(sessionId, new AgentNotebooks(undefined));
  }

  /** As its first call would. */
  begin(sessionId: string): void {
    this.#agentOf(sessionId);
  }

  /** Whether the session has begun here, and was not forgotten since. */
  knows(sessionId: string): boolean {
    return this.#agents.has(sessionId);
  }

  /** An agent has gone: what it alone used is left. */
  async endSession(sessionId: string): Promise<void> {
    const agent = this.#agents.get(sessionId);
    this.#agents.delete(sessionId);
    await Promise.all((agent?.end() ?? []).map((link) => this.#links.leave(link)));
  }

  /** Leaves all but the first. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#unsubscribe();
    await Promise.all([...this.#agents.keys()].map((sessionId) => this.endSession(sessionId)));
  }

  #agentOf(sessionId: string): AgentNotebooks {
    const known = this.#agents.get(sessionId);
    if (known !== undefined) return known;
    const [oldest] = this.#agents.keys();
    if (this.#agents.size >= maxAgents && oldest !== undefined) void this.endSession(oldest);
    const { first, beginsWithNone = false } = this.#options;
    const made = new AgentNotebooks(beginsWithNone ? undefined : first);
    this.#agents.set(sessionId, made);
    return made;
  }

  #currentOf(agent: AgentNotebooks): NotebookLink | undefined {
    const { first, beginsWithNone = false } = this.#options;
    return agent.current ?? (beginsWithNone && agent.links.length === 0 ? first : undefined);
  }

  async #listTools(agent: AgentNotebooks, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { first, isListed = true, listedBeside } = this.#options;
    const link = agent.current ?? first;
    const listed = await link.request('tools/list', params, context);
    const tools = (Array.isArray(listed.tools) ? listed.tools : []) as Tool[];
    this.#remember(link, tools);
    if (!isListed) return listed;
    const isOne = listedBeside !== undefined && link === first && agent.links.length === 1;
    const others = tools.filter(({ name }) => !selectionNames.has(name));
    if (isOne && (others.length < tools.length || !tools.some(({ name }) => name === listedBeside)))
      return { ...listed, tools: withHostMarks(tools) };
    const shown = isOne ? others : others.map(withNotebookArgument);
    if (params.cursor !== undefined) return { ...listed, tools: withHostMarks(shown) };
    const lasting = link === first ? [] : await this.#lastingTools(tools, context);
    const all = [...lasting, ...shown, ...describeSelectionTools(this.#options.directory.contents)];
    return { ...listed, tools: withHostMarks(all) };
  }

  /** Of the first, beside those of another. */
  async #lastingTools(others: readonly Tool[], context: CallContext): Promise<Tool[]> {
    const { first, lastingTools } = this.#options;
    if (lastingTools === undefined) return [];
    // The first may be away, at a hub that has ended: that must not hide the selected one's.
    const { tools } = await first.request('tools/list', {}, context).catch((error: unknown): JsonObject => {
      if (context.cancellation.reason !== undefined) throw error;
      return {};
    });
    const isLasting = ({ name }: Tool): boolean => lastingTools.has(name) && !others.some((other) => other.name === name);
    return ((Array.isArray(tools) ? tools : []) as Tool[]).filter(isLasting);
  }

  #remember(link: NotebookLink, tools: readonly Tool[]): KnownTools {
    const has = ({ inputSchema }: Tool): boolean => isJsonObject(inputSchema.properties) && notebookArgument in inputSchema.properties;
    const schemas = new Map<unknown, JsonObject>(tools.map(({ name, inputSchema }) => [name, inputSchema]));
    const known = { schemas, ownArguments: new Set(tools.filter(has).map(({ name }) => name)) };
    this.#known.set(link, known);
    return known;
  }

  async #toolsOf(link: NotebookLink, context: CallContext): Promise<KnownTools> {
    const known = this.#known.get(link);
    if (known !== undefined) return known;
    const { tools } = await link.request('tools/list', {}, context);
    return this.#remember(link, (Array.isArray(tools) ? tools : []) as Tool[]);
  }

  /** The call with its arguments as the tool's schema has them, once the tool was listed. */
  #fitted(link: NotebookLink, params: JsonObject): JsonObject {
    const { name, arguments: args } = params;
    const schema = this.#options.isListed === false ? undefined : this.#known.get(link)?.schemas.get(name);
    if (schema === undefined || !isJsonObject(args)) return params;
    const fitted = fitArguments(schema, args);
    return fitted === args ? params : { ...params, arguments: fitted };
  }

  #pass(event: ProviderEvent, link: NotebookLink): void {
    if (event.method === toolsChanged) this.#known.delete(link);
    this.#events.emit(event);
  }

  /** Where a call goes that chooses nothing, names nothing and is no run's; undefined: that is to be found out. */
  #certain(agent: AgentNotebooks, { name, arguments: args }: JsonObject): NotebookLink | undefined {
    if (agent.isChoosing || typeof name !== 'string' || selectionNames.has(name) || runNames.has(name)) return undefined;
    if (isJsonObject(args) && notebookArgument in args) return undefined;
    const { first, lastingTools } = this.#options;
    const current = this.#currentOf(agent);
    return current === first || lastingTools?.has(name) !== true ? current : undefined;
  }

  async #callTool(agent: AgentNotebooks, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const given = isJsonObject(params.arguments) ? params.arguments : {};
    const own = selectionTools.find(({ name }) => name === params.name);
    const args = own === undefined ? given : fitArguments(own.inputSchema, given);
    const chooses = params.name === connectNotebookTool.name || params.name === disconnectNotebookTool.name;
    const endChoice = chooses ? agent.beginChoice() : undefined;
    const onChosen = () => endChoice?.();
    let link: NotebookLink;
    let passed = params;
    try {
      switch ((await this.#isOfFirst(params.name, context)) ? undefined : params.name) {
        case listNotebooksTool.name:
          return toResult(await this.#connector.listAll(agent, toPlainValue(args) as JsonObject));
        case connectNotebookTool.name:
          return toResult(await this.#connector.connect(agent, toPlainValue(args) as JsonObject, { context, onChosen }));
        case disconnectNotebookTool.name:
          return toResult(await this.#connector.disconnect(agent, args[notebookArgument], context));
        default:
          break;
      }
      const { [notebookArgument]: named = null, ...others } = args;
      const isOurs = notebookArgument in args && !(await this.#isOwnArgument(agent.current, params.name, context));
      if (isOurs) passed = { ...params, arguments: others };
      if (isOurs && named !== null) link = await this.#connector.named(agent, named, context);
      else {
        onChosen();
        await agent.chosen();
        link = await this.#unnamed(agent, params.name, context);
      }
    } catch (error) {
      return toFailure(error);
    } finally {
      onChosen();
    }
    const result = await link.request('tools/call', this.#fitted(link, passed), context);
    return passed === params ? this.#orOfAnother({ agent, link, params, result }, context) : result;
  }

  /** A run has an id that no other notebook has: where none was named, it is found in whichever of this agent's it goes on. */
  async #orOfAnother({ agent, link, params, result }: CalledRun, context: CallContext): Promise<JsonObject> {
    if (typeof params.name !== 'string' || !runNames.has(params.name) || !isUnknownRun(result)) return result;
    for (const other of agent.links) {
      if (other === link || other.isDisconnected) continue;
      const found = await other.request('tools/call', params, context).catch(() => result);
      if (!isUnknownRun(found)) return found;
    }
    return result;
  }

  /** A page's own tool may have the name of one of ours. */
  async #isOfFirst(tool: unknown, context: CallContext): Promise<boolean> {
    const { first, listedBeside } = this.#options;
    if (listedBeside === undefined || typeof tool !== 'string' || !selectionNames.has(tool)) return false;
    return (await this.#toolsOf(first, context)).schemas.has(tool);
  }

  /** A tool may have an argument of that name itself. */
  async #isOwnArgument(link: NotebookLink | undefined, tool: unknown, context: CallContext): Promise<boolean> {
    return link !== undefined && typeof tool === 'string' && (await this.#toolsOf(link, context)).ownArguments.has(tool);
  }

  /** Where a call goes that names no notebook. Rejects where that would have to be guessed. */
  async #unnamed(agent: AgentNotebooks, tool: unknown, context: CallContext): Promise<NotebookLink> {
    const { first, lastingTools } = this.#options;
    const current = this.#currentOf(agent);
    if (current !== first && typeof tool === 'string' && lastingTools?.has(tool) === true)
      return current !== undefined && (await this.#toolsOf(current, context)).schemas.has(tool) ? current : first;
    if (current === undefined) throw await this.#connector.ambiguity(agent);
    return current;
  }
}

/** A call of one of them that named no notebook, and what the selected one answered. */
interface CalledRun {
  agent: AgentNotebooks;
  link: NotebookLink;
  params: JsonObject;
  result: JsonObject;
}

const runNames: ReadonlySet<string> = new Set(['get_run', 'interrupt_run']);

function isUnknownRun({ isError, content }: JsonObject): boolean {
  const [first] = isError === true && Array.isArray(content) ? (content as JsonObject[]) : [];
  return typeof first?.text === 'string' && first.text.startsWith('{"error":{"code":"unknown_run"');
}

const selectionNames: ReadonlySet<string> = new Set(selectionTools.map(({ name }) => name));
const toolsChanged = 'notifications/tools/list_changed';

interface KnownTools {
  /** The input schema of each, by its name. */
  schemas: ReadonlyMap<unknown, JsonObject>;
  /** Those that have an argument `notebook` of their own. */
  ownArguments: ReadonlySet<string>;
}

/** Faults of ours are for the agent to read; what the notebook itself rejects with passes. */
function toFailure(error: unknown): ToolResult {
  if (!(error instanceof BridgeError)) throw error;
  if (!readable.has(error.code)) throw error;
  return toFailedResult(error.code, error.message);
}

const readable = new Set<string>([
  'which_notebook',
  'bad_notebook',
  'bad_origin',
  'bad_usage',
  'disconnected',
  'limit_reached',
  'timeout',
  'sandbox_unavailable',
  'not_started',
  'host_silent',
  'not_ours',
  'other_version',
]);

function toResult(value: JsonObject): ToolResult {
  return toTextResult(JSON.stringify(value));
}
