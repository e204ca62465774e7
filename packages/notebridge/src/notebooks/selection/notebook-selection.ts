import { setTimeout as pause } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { Listeners } from '@notebridge/kit/listeners';
import { messageOf } from '@notebridge/kit/message-of';
import type { CallContext } from '../../core/call-context.js';
import { BridgeError, codeOf } from '../../core/errors.js';
import { type Tool, type ToolResult, toFailedResult, toTextResult } from '../../core/mcp.js';
import type { Provider, ProviderEvent } from '../../core/provider.js';
import { toPlainValue } from '../../core/wire.js';
import { settlesWithin } from '../../util/settles-within.js';
import { nameOfAgent } from '../call-notebook-tool.js';
import { AgentNotebooks } from './agent-notebooks.js';
import { nameEntries, toNotOpen } from './name-entries.js';
import type { NotebookDirectory, NotebookEntry, NotebookLink } from './notebook-directory.js';
import {
  connectNotebookTool,
  disconnectNotebookTool,
  listNotebooksTool,
  notebookArgument,
  selectionInstructions,
  selectionTools,
  withNotebookArgument,
} from './selection-tools.js';

export interface NotebookSelectionOptions {
  /** The notebook of the command line, which every agent of this process begins with. It is closed by whoever opened it. */
  first: NotebookLink;
  directory: NotebookDirectory;
  /** False: the tools about notebooks, and the argument, are accepted and not listed. Default true. */
  isListed?: boolean | undefined;
}

/** An agent's own timeout may be 30 s. Milliseconds. */
const connectTimeoutMs = 20_000;
const pagePollMs = 250;
/** Notebooks that one agent may use at once, and agents of one process. */
const maxLinks = 32;
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
  /** By link: what ends its events, and the tools of it that have an argument `notebook` of their own. */
  readonly #listening = new Map<NotebookLink, () => void>();
  readonly #ownArguments = new WeakMap<NotebookLink, ReadonlySet<string>>();
  /** Ids from which a person has disconnected an agent of this process: an agent does not come back by itself. */
  readonly #barred = new Set<string>();
  readonly #unsubscribe: () => void;

  constructor(options: NotebookSelectionOptions) {
    this.#options = options;
    this.#unsubscribe = options.first.subscribe((event) => this.#events.emit(event));
  }

  get instructions(): string {
    return `${this.#options.first.instructions ?? ''}${this.#options.isListed === false ? '' : selectionInstructions}`;
  }

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const agent = this.#agentOf(context);
    if (method === 'tools/list') return this.#listTools(agent, params, context);
    if (method === 'tools/call') return this.#callTool(agent, params, context);
    const link = agent.current;
    if (link === undefined) throw await this.#ambiguity(agent);
    return link.request(method, params, context);
  }

  notify(method: string, params: JsonObject | undefined): void {
    for (const link of new Set([this.#options.first, ...this.#listening.keys()])) link.notify(method, params);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#events.add(listener);
  }

  /** An agent has gone: what it alone used is left. */
  async endSession(sessionId: string): Promise<void> {
    const agent = this.#agents.get(sessionId);
    this.#agents.delete(sessionId);
    await Promise.all((agent?.all() ?? []).map((link) => this.#leave(link)));
  }

  /** Leaves all but the first. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#unsubscribe();
    await Promise.all([...this.#agents.keys()].map((sessionId) => this.endSession(sessionId)));
  }

  #agentOf({ caller: { sessionId } }: CallContext): AgentNotebooks {
    const known = this.#agents.get(sessionId);
    if (known !== undefined) return known;
    const [oldest] = this.#agents.keys();
    if (this.#agents.size >= maxAgents && oldest !== undefined) void this.endSession(oldest);
    const made = new AgentNotebooks(this.#options.first);
    this.#agents.set(sessionId, made);
    return made;
  }

  /** The tools of the first are there always: many agents read the list once. */
  async #listTools(agent: AgentNotebooks, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { first, isListed = true } = this.#options;
    const link = agent.current ?? first;
    const listed = await link.request('tools/list', params, context);
    const tools = (Array.isArray(listed.tools) ? listed.tools : []) as Tool[];
    this.#remember(link, tools);
    if (!isListed) return listed;
    const own = params.cursor === undefined ? selectionTools : [];
    const others = tools.filter(({ name }) => !selectionTools.some((tool) => tool.name === name));
    return { ...listed, tools: [...others.map(withNotebookArgument), ...own] };
  }

  #remember(link: NotebookLink, tools: readonly Tool[]): void {
    const has = ({ inputSchema }: Tool): boolean => isJsonObject(inputSchema.properties) && notebookArgument in inputSchema.properties;
    this.#ownArguments.set(link, new Set(tools.filter(has).map(({ name }) => name)));
  }

  async #callTool(agent: AgentNotebooks, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const args = isJsonObject(params.arguments) ? params.arguments : {};
    try {
      switch (params.name) {
        case listNotebooksTool.name:
          return toResult({ notebooks: await this.#list(agent) });
        case connectNotebookTool.name:
          return toResult(await this.#connect(agent, toPlainValue(args) as JsonObject, context));
        case disconnectNotebookTool.name:
          return toResult(await this.#disconnect(agent, args[notebookArgument], context));
        default:
          break;
      }
    } catch (error) {
      return toFailure(error);
    }
    if (notebookArgument in args) return this.#callNamed(agent, params, context);
    return agent.current?.request('tools/call', params, context) ?? toFailure(await this.#ambiguity(agent));
  }

  /** To the notebook that the call names, unless its tool has an argument of that name itself. */
  async #callNamed(agent: AgentNotebooks, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { [notebookArgument]: named, ...args } = params.arguments as JsonObject;
    const { current } = agent;
    if (current !== undefined && this.#ownArguments.get(current)?.has(String(params.name)) === true)
      return current.request('tools/call', params, context);
    let link: NotebookLink;
    try {
      link = await this.#named(agent, named, context);
    } catch (error) {
      return toFailure(error);
    }
    return link.request('tools/call', { ...params, arguments: args }, context);
  }

  /** One that is open is joined for the call, and is not selected by it. */
  async #named(agent: AgentNotebooks, named: unknown, context: CallContext): Promise<NotebookLink> {
    const used = typeof named === 'string' ? agent.byName(named) : undefined;
    if (used !== undefined) return used;
    const entries = await this.#entries();
    const entry = entries.find(({ id, location }) => id === named || (location !== null && location === named));
    if (typeof named !== 'string' || entry === undefined) throw toNotOpen(named, entries);
    const known = agent.byId(entry.id);
    if (known !== undefined) return known;
    return this.#join(agent, { key: entry.id, make: () => this.#options.directory.linkTo({ kind: 'open', id: entry.id }) }, context);
  }

  async #list(agent: AgentNotebooks): Promise<JsonObject[]> {
    // What has just been asked for is listed as soon as it is there.
    await settlesWithin(Promise.allSettled(agent.links.map((link) => (link.isDisconnected ? undefined : link.join()))), listTimeoutMs);
    return (await this.#entries()).map((entry) => this.#shown(agent, entry));
  }

  #shown(agent: AgentNotebooks, { agents: _, ...entry }: NotebookEntry & { agents?: unknown }): JsonObject {
    const link = agent.byId(entry.id);
    if (link !== undefined) agent.noteLocation(link, entry.location);
    return { ...entry, connected: link !== undefined, selected: link !== undefined && link === agent.current } as JsonObject;
  }

  async #connect(agent: AgentNotebooks, { notebook: text, create }: JsonObject, context: CallContext): Promise<JsonObject> {
    const deadline = performance.now() + connectTimeoutMs;
    const entries = await this.#entries();
    if (typeof text !== 'string') throw toNotOpen(text, entries);
    const { directory } = this.#options;
    let link = agent.byName(text);
    try {
      if (link === undefined) {
        const reference = await directory.find({ text, create: create === true }, entries);
        const known = reference.kind === 'open' ? this.#known(agent, reference.id) : undefined;
        const make = () => directory.linkTo(reference);
        link = known ?? (await this.#join(agent, { key: JSON.stringify(reference), make }, context, deadline));
      } else await settlesWithin(link.join(), deadline - performance.now(), context.signal);
    } catch (error) {
      if (codeOf(error) !== 'timeout') throw error;
      return {
        status: 'opening',
        missing: messageOf(error),
        next: 'Call connect_notebook again with the same notebook: it goes on being opened.',
      };
    }
    agent.select(link);
    this.#events.emit({ method: 'notifications/tools/list_changed', sessionId: context.caller.sessionId });
    return this.#untilThere(agent, link, deadline, context);
  }

  /** Connected already, or the first, which this agent may have left. */
  #known(agent: AgentNotebooks, id: string): NotebookLink | undefined {
    const { first } = this.#options;
    this.#assertMayCome(id);
    return agent.byId(id) ?? (first.id === id ? first : undefined);
  }

  /** A page may be opened by a person meanwhile. */
  async #untilThere(agent: AgentNotebooks, link: NotebookLink, deadline: number, { signal }: CallContext): Promise<JsonObject> {
    for (;;) {
      const entry = (await this.#entries()).find(({ id }) => id === link.id);
      if (entry === undefined) return { status: 'connected', id: link.id ?? null };
      if (entry.state !== 'waiting') return { status: 'connected', ...this.#shown(agent, entry) };
      if (performance.now() > deadline || signal.aborted)
        return { status: 'waiting', ...this.#shown(agent, entry), missing: entry.missing ?? 'Its page is not open in a browser.' };
      await pause(pagePollMs);
    }
  }

  async #join(
    agent: AgentNotebooks,
    { key, make }: { key: string; make: () => NotebookLink },
    context: CallContext,
    deadline = performance.now() + connectTimeoutMs,
  ): Promise<NotebookLink> {
    if (agent.all().length >= maxLinks && !agent.opening.has(key))
      throw new BridgeError('limit_reached', `An agent uses ${maxLinks} notebooks at most. Leave one with disconnect_notebook.`);
    const link = agent.opening.get(key) ?? make();
    agent.opening.set(key, link);
    const joining = link.join();
    if (!(await settlesWithin(joining, Math.max(0, deadline - performance.now()), context.signal)))
      throw new BridgeError('timeout', 'The notebook is still being opened: its process or kernel starts.');
    agent.opening.delete(key);
    try {
      await joining;
      const { id = '' } = link;
      this.#assertMayCome(id);
      const known = agent.byId(id);
      if (known === undefined) {
        const { sessionId } = context.caller;
        link.showAgents([{ id: sessionId, name: nameOfAgent(context) }]);
        this.#listen(link, sessionId);
        agent.add(link);
        return link;
      }
      // Named in two ways.
      void this.#leave(link);
      return known;
    } catch (error) {
      void this.#leave(link);
      throw error;
    }
  }

  #assertMayCome(id: string): void {
    for (const link of [this.#options.first, ...this.#listening.keys()])
      if (link.isDisconnected && link.id !== undefined) this.#barred.add(link.id);
    if (this.#barred.has(id))
      throw new BridgeError('disconnected', 'A person disconnected this agent from that notebook. Only a person can connect it again.');
  }

  /** What a notebook announces is for the agent that uses it. */
  #listen(link: NotebookLink, sessionId: string): void {
    this.#listening.set(
      link,
      link.subscribe((event) => this.#events.emit({ ...event, sessionId })),
    );
  }

  async #disconnect(agent: AgentNotebooks, named: unknown, { caller: { sessionId } }: CallContext): Promise<JsonObject> {
    const link = named === undefined ? agent.current : agent.byId(String(named));
    if (link === undefined && named === undefined) throw await this.#ambiguity(agent);
    if (link === undefined)
      throw toNotOpen(
        named,
        (await this.#entries()).filter(({ id }) => agent.byId(id) !== undefined),
      );
    const { id = null } = link;
    agent.remove(link);
    await this.#leave(link);
    this.#events.emit({ method: 'notifications/tools/list_changed', sessionId });
    return { status: 'disconnected', id, notebooks: await this.#list(agent) };
  }

  async #leave(link: NotebookLink): Promise<void> {
    if (link === this.#options.first) return;
    if (link.isDisconnected && link.id !== undefined) this.#barred.add(link.id);
    this.#listening.get(link)?.();
    this.#listening.delete(link);
    await link.close();
  }

  #entries(): Promise<NotebookEntry[]> {
    return this.#options.directory.list();
  }

  async #ambiguity(agent: AgentNotebooks): Promise<BridgeError> {
    const entries = await this.#entries();
    const used = entries.filter(({ id }) => agent.byId(id) !== undefined);
    const start = used.length === 0 ? 'This agent uses no notebook now' : 'Several notebooks are connected and none is selected';
    return new BridgeError(
      'which_notebook',
      `${start}, so nothing was called. Give "notebook" with the call, or select one with connect_notebook: ${nameEntries(used.length === 0 ? entries : used)}.`,
    );
  }
}

const listTimeoutMs = 5000;

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
