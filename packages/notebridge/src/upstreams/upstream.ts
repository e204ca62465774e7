import { isDeepStrictEqual } from 'node:util';
import type { CacheHints } from '@notebridge/protocol/core/cache-hints';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, headerMismatchCode, RemoteError } from '@notebridge/protocol/core/errors';
import { isListMethod, type ListMethod, listMethods, neededCapabilities, readingMethods } from '@notebridge/protocol/core/list-methods';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { type ParamHeader, paramHeadersOf } from '@notebridge/protocol/core/param-headers';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { hasTasksExtension } from '@notebridge/protocol/core/task-servers';
import type {
  Exposure,
  LeftOutEntry,
  NameStyle,
  Placement,
  ServerState,
  ToolServer,
  ToolServerEvent,
} from '@notebridge/protocol/core/tool-server';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { toValidList } from '../catalog/valid-entries.js';
import type { ServerConfig } from '../config/server-config.js';
import { assertList, fetchList, LeftOutLog } from './fetch-list.js';
import { listenForTask, listenForUpdates } from './listen-for-changes.js';
import { programOf } from './program-of.js';
import { type InstancesOptions, type PooledInstance, ServerInstances } from './server-instances.js';
import { unavailable } from './unavailable.js';
import type { Handshake, UpstreamSession } from './upstream-session.js';
import { UpstreamTools } from './upstream-tools.js';
import { WatchedResources } from './watched-resources.js';

export interface UpstreamOptions extends Omit<InstancesOptions, 'config' | 'paramHeadersOf' | 'onState' | 'onReady' | 'onNotification'> {
  onEvent: (event: ToolServerEvent) => void;
}

/** One server of the config, as the rest of the hub sees it: it is there, whether its program runs just now or not. */
export class Upstream implements ToolServer {
  readonly name: string;
  readonly isConfig = true;
  readonly #options: UpstreamOptions;
  readonly #instances: ServerInstances;
  readonly #tools: UpstreamTools;
  readonly #leftOut: LeftOutLog;
  /** Of several instances: what they list, joined. */
  #known: { lists: readonly (readonly Tool[])[]; tools: readonly Tool[] } = { lists: [], tools: [] };
  readonly #events = new Listeners<ProviderEvent>();
  readonly #watched = new WatchedResources();
  /** How to stop listening to the updates that a session of the modern era sends. */
  readonly #listens = new WeakMap<UpstreamSession, () => void>();
  readonly #since = Date.now();
  #config: ServerConfig;
  #handshake: Handshake | undefined;

  constructor(config: ServerConfig, options: UpstreamOptions) {
    this.name = config.name;
    this.#config = config;
    this.#options = options;
    this.#instances = new ServerInstances({
      ...options,
      config,
      paramHeadersOf: (tool) => this.#paramHeadersOf(tool),
      onState: () => options.onEvent({ server: this.name, kind: 'state' }),
      onReady: (session, pooled) => this.#meet(session, pooled),
      onNotification: (event, session, pooled) => this.#onEvent(event, session, pooled),
    });
    this.#leftOut = new LeftOutLog(this.name, options.logger);
    this.#tools = this.#createTools(this.#instances.shared);
  }

  #createTools({ instance }: PooledInstance): UpstreamTools {
    return new UpstreamTools({
      config: this.#config,
      log: this.#leftOut,
      logger: this.#options.logger,
      ready: (context) => instance.ready(context?.cancellation),
      onChange: () => this.#notify({ method: 'notifications/tools/list_changed' }),
    });
  }

  /** What the instance of this caller lists: a program of its own may have other tools than one for another agent. */
  #toolsOf(context: CallContext | undefined): UpstreamTools {
    return this.#config.instances === 'per-agent' ? this.#toolsOfInstance(this.#instances.of(context)) : this.#tools;
  }

  #toolsOfInstance(pooled: PooledInstance): UpstreamTools {
    if (pooled === this.#instances.shared) return this.#tools;
    pooled.tools ??= this.#createTools(pooled);
    return pooled.tools;
  }

  get description(): string | undefined {
    return this.#config.description;
  }

  get expose(): Exposure {
    return this.#config.expose ?? 'direct';
  }

  get names(): NameStyle {
    return this.#config.names;
  }

  get instructions(): string | undefined {
    return this.#handshake?.instructions;
  }

  get status(): ServerState['status'] {
    return this.#config.disabled ? 'disabled' : this.#instances.shared.instance.status;
  }

  get state(): ServerState {
    if (this.#config.disabled) return { status: 'disabled', since: this.#since, restarts: 0, inFlight: 0 };
    return this.#instances.state;
  }

  /** Of all instances. */
  get knownTools(): readonly Tool[] | undefined {
    const own = [...this.#instances.own];
    if (own.length === 0) return this.#tools.known;
    const lists = [this.#tools.known, ...own.map(({ tools }) => tools?.known)].filter((list) => list !== undefined);
    if (lists.length < 2) return lists[0];
    if (!isDeepStrictEqual(lists, this.#known.lists))
      this.#known = { lists, tools: [...new Map(lists.flat().map((tool) => [tool.name, tool])).values()] };
    return this.#known.tools;
  }

  get toolsCache(): CacheHints | undefined {
    return this.#tools.cacheHints;
  }

  get tasksEra(): Era | undefined {
    const { era, capabilities } = this.#handshake ?? {};
    if (era === 'modern') return hasTasksExtension(capabilities) ? era : undefined;
    const requests = isJsonObject(capabilities?.tasks) ? capabilities.tasks.requests : undefined;
    return isJsonObject(requests) && isJsonObject(requests.tools) && requests.tools.call !== undefined ? 'legacy' : undefined;
  }

  async findLeftOut(): Promise<readonly LeftOutEntry[]> {
    const session = await this.#instances.of(undefined).instance.ready();
    const { logger } = this.#options;
    const others = (Object.keys(listMethods) as ListMethod[]).filter(
      (method) => method !== 'tools/list' && session.can(neededCapabilities[method] ?? ''),
    );
    const lists = await Promise.all(
      others.map((method) => fetchList(session, method, { server: this.name, logger }).catch(() => undefined)),
    );
    return [...this.#tools.leftOut, ...lists.flatMap((list) => list?.leftOut ?? [])];
  }

  get pushingTools(): readonly string[] {
    return this.#config.era === 'legacy' ? [] : this.#options.eras.pushingOf(this.#config);
  }

  watchTask(taskId: string, context: CallContext): () => void {
    const cancellation = new Cancellation();
    const listenTo = (session: UpstreamSession): void => {
      if (session.handshake.era === 'modern') listenForTask(session, taskId, cancellation);
    };
    // One that does not come back has no task to tell of.
    this.#instances
      .of(context)
      .instance.ready(cancellation)
      .then(listenTo, () => {});
    return () => cancellation.cancel('nobody listens to the task any more');
  }

  get placement(): Placement {
    return this.#config.placement;
  }

  get isLazy(): boolean {
    return this.#config.lazy;
  }

  get isPerAgent(): boolean {
    return this.#config.instances === 'per-agent';
  }

  async listTools(context?: CallContext): Promise<readonly Tool[]> {
    if (this.#config.disabled) throw this.#disabled();
    return this.#toolsOf(context).list(context);
  }

  /** Not async for tool calls: on the usual way they pay for nothing but the request. */
  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (this.#config.disabled) return Promise.reject(this.#disabled());
    try {
      if (method === 'tools/call') return this.#callTool(params, context);
    } catch (error) {
      return Promise.reject(error);
    }
    if (method === 'tools/list') return this.listTools(context).then((tools) => ({ tools, ...this.toolsCache }));
    return this.#requestOther(method, params, context);
  }

  /** Of what agents say of themselves only their roots concern a server, if it was told that there are some. */
  notify(method: string, params: JsonObject | undefined, context?: CallContext): void {
    if (context !== undefined && method === 'notifications/roots/list_changed' && context.clientCapabilities?.roots !== undefined)
      this.#instances.notifyOf(context.caller.sessionId, method, params);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#events.add(listener);
  }

  /** Starts it, if it does not run or was given up. Resolves when it runs or is given up, at the latest after the start time-out. */
  async start(): Promise<void> {
    if (!this.#config.disabled) await this.#instances.start();
  }

  /** Ends it and its whole tree, with the calls under way. The next call starts it again. Stopping twice is harmless. */
  stop(why: string): Promise<void> {
    return this.#instances.stop(why);
  }

  /** Takes over a config that differs only in what needs no restart. False if it needs one: then nothing was changed. */
  update(config: ServerConfig): boolean {
    if (!isDeepStrictEqual(programOf(config), programOf(this.#config))) return false;
    this.#config = config;
    this.#instances.update(config);
    for (const tools of [this.#tools, ...[...this.#instances.own].map((own) => own.tools)]) tools?.update(config);
    return true;
  }

  /** The agent's session has ended, and with it the instance that was its own. */
  endSession(sessionId: string): Promise<void> {
    return this.#instances.end(sessionId);
  }

  /** Ends it and its whole tree. Closing twice is harmless. */
  close(why = 'Notebridge ends'): Promise<void> {
    return this.#instances.close(why);
  }

  #callTool(params: JsonObject, context: CallContext): Promise<JsonObject> {
    const tool = this.#toolsOf(context).find(params.name);
    if (tool === undefined) return this.#callUnlistedTool(params, context);
    const { readOnlyHint, idempotentHint } = tool.annotations ?? {};
    return this.#sendCall(params, context, readOnlyHint === true || idempotentHint === true);
  }

  async #callUnlistedTool(params: JsonObject, context: CallContext): Promise<JsonObject> {
    await this.#toolsOf(context).assertMayExist(params.name, context);
    return this.#sendCall(params, context, false);
  }

  #sendCall(params: JsonObject, context: CallContext, isRepeatable: boolean): Promise<JsonObject> {
    const call = { method: 'tools/call', params, context, isRepeatable };
    const sent = this.#instances.of(context).calls.request(call);
    if (this.#config.transport === 'stdio') return sent;
    const known = this.#paramHeadersOf(params.name);
    return sent.catch(async (error: unknown) => {
      // A server that misses a header has not run the call; its tool may declare others than we knew.
      if (!(error instanceof RemoteError) || error.raw.code !== headerMismatchCode) throw error;
      await this.#tools.readAgain(context);
      if (isDeepStrictEqual(this.#paramHeadersOf(params.name), known)) throw error;
      return this.#instances.of(context).calls.request(call);
    });
  }

  #paramHeadersOf(tool: unknown): readonly ParamHeader[] {
    return paramHeadersOf(this.#tools.known ?? [], tool);
  }

  async #requestOther(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const needed = Object.hasOwn(neededCapabilities, method) ? neededCapabilities[method] : undefined;
    if (needed !== undefined) {
      // A server that is started on first use is not started to learn that it has no prompts; one that was given up is tried again.
      if (this.#handshake === undefined && (!this.#config.lazy || this.status === 'failed'))
        await this.#instances.of(context).instance.ready(context.cancellation);
      if (this.#handshake?.capabilities[needed] === undefined) {
        if (isListMethod(method)) return { [listMethods[method].items]: [] };
        throw new BridgeError('unknown_method', `"${this.name}" has no ${needed}, so it does not answer "${method}".`);
      }
    }
    if (method === 'resources/subscribe' || method === 'resources/unsubscribe') {
      if (!this.#watched.count(method, params)) return {};
      const { instance, calls } = this.#instances.ofAll(context);
      const session = await instance.ready(context.cancellation);
      if (session.handshake.era === 'legacy') return calls.request({ method, params, context, isRepeatable: false });
      this.#listen(session);
      return {};
    }
    const answer = await this.#instances.of(context).calls.request({ method, params, context, isRepeatable: readingMethods.has(method) });
    return isListMethod(method) ? this.#toValid(method, answer) : answer;
  }

  async #toValid(method: ListMethod, answer: JsonObject): Promise<JsonObject> {
    assertList(method, answer);
    const valid = await toValidList(method, answer);
    this.#leftOut.report(method, valid);
    return valid.result;
  }

  /** A server that has just started knows nothing of the one before. */
  #meet(session: UpstreamSession, pooled: PooledInstance): void {
    if (this.#instances.isBesideShared(pooled)) return;
    const before = this.#handshake?.capabilities ?? {};
    this.#handshake = session.handshake;
    const tools = this.#toolsOfInstance(pooled);
    if (session.can('tools') || tools.known === undefined) tools.refresh(session);
    if (session.handshake.era === 'modern') this.#listen(session);
    else for (const uri of this.#watched.uris) session.request('resources/subscribe', { uri }, {}).catch(() => {});
    for (const kind of ['resources', 'prompts']) {
      if (session.can(kind) && before[kind] === undefined) this.#notify({ method: `notifications/${kind}/list_changed` });
    }
  }

  /** The modern era has no method for one resource: it is one stream for all of them, and another one when they change. */
  #listen(session: UpstreamSession): void {
    const stop = this.#listens.get(session);
    if (stop === undefined && this.#watched.uris.length === 0) return;
    this.#listens.set(session, listenForUpdates(session, this.#watched.uris));
    // After the next one was asked for, so that no update falls between them.
    stop?.();
  }

  #onEvent(event: ProviderEvent, session: UpstreamSession, pooled: PooledInstance): void {
    // Of a listen of ours, so it is for nobody else.
    if (event.method === 'notifications/subscriptions/acknowledged') return;
    // The one that all share says so too.
    if (
      this.#instances.isBesideShared(pooled) &&
      (event.method.endsWith('/list_changed') || event.method === 'notifications/resources/updated')
    )
      return;
    if (event.method === 'notifications/tools/list_changed') (pooled.tools ?? this.#tools).refreshSoon(session);
    else this.#notify(event);
  }

  #notify(event: ProviderEvent): void {
    if (event.method === 'notifications/tools/list_changed') this.#options.onEvent({ server: this.name, kind: 'tools' });
    else this.#options.onEvent({ server: this.name, kind: 'notification', notification: event });
    this.#events.emit(event);
  }

  #disabled(): BridgeError {
    return unavailable(this.name, `"${this.name}" is disabled in the config.`, 'no');
  }
}
