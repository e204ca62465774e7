import { type CacheHints, mergeCacheHints } from '@notebridge/protocol/core/cache-hints';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isListMethod, type ListMethod, listMethods } from '@notebridge/protocol/core/list-methods';
import type { ListToolsResult, Tool } from '@notebridge/protocol/core/mcp';
import { type ParamHeader, paramHeadersOf } from '@notebridge/protocol/core/param-headers';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import { type TaskReport, type TaskServers, taskReports } from '@notebridge/protocol/core/task-servers';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { ToolServer, ToolServerEvent, ToolServers } from '@notebridge/protocol/core/tool-server';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import type { Logger } from '@notebridge/protocol/util/logger';
import { quote } from '@notebridge/protocol/util/quote';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { exposeNames } from './exposed-names.js';
import { unknownCursor } from './list-pages.js';
import { describeUse } from './server-instructions.js';
import { ServerLists } from './server-lists.js';
import { ToolNames, toolKeyOf } from './tool-names.js';

export interface ServerToolsOptions {
  servers: ToolServers;
  logger: Logger;
  /** How long a list waits for servers that are starting: many agents read it once, and give up as well. Milliseconds, default 20 s. */
  listWaitMs?: number | undefined;
  /** For messages: where the servers are written. Default: nowhere. */
  configFile?: string | undefined;
}

/** How long an agent that takes tasks waits to learn whether a server that starts has some. Milliseconds. */
const startMs = 2000;
const listChanged = 'notifications/tools/list_changed';

/**
 * The servers of the config as one provider for agents: their tools and prompts as `server__name`, or as `name` where the config says so,
 * their resources as they are.
 */
export class ServerTools implements Provider, TaskServers {
  readonly name = 'servers';
  readonly #options: ServerToolsOptions;
  /** The name of each tool, at every door. */
  readonly names: ToolNames;
  /** Names that were listed once: an agent that ignores `list_changed` may use them still. */
  #listed = new Map<string, ToolAddress>();
  /** Which server has each of the prompts that were listed last. */
  #prompts = new Map<string, ToolAddress>();
  readonly #lists: ServerLists;
  /** Names that were said to be refused. */
  readonly #refused = new Set<string>();

  constructor(options: ServerToolsOptions) {
    this.#options = options;
    this.names = new ToolNames(options.servers);
    this.#lists = new ServerLists({ ...options, direct: () => this.#direct });
  }

  /** What stands behind a name that agents know; undefined for a name that is not ours. */
  resolve(name: string): ToolAddress | undefined {
    return this.names.direct.get(name) ?? (this.#options.servers.takenNames?.has(name) ? undefined : this.#listed.get(name));
  }

  /** What the servers say of their use, each under its name. */
  instructionsOf(mayHear: (server: string) => boolean): string | undefined {
    return describeUse(this.#direct.filter(({ name }) => mayHear(name)));
  }

  hasTool(name: unknown): boolean {
    return typeof name === 'string' && this.names.direct.has(name);
  }

  whyUnknown(name: string): BridgeError | undefined {
    const server = this.names.ownerOfUnknown(name);
    // By its prefix it is of this server alone: that others could not be listed is no reason, and may be none of the caller's business.
    return server && (this.#lists.whyToolUnknown(server, name) ?? (server.knownTools === undefined ? undefined : unknownTool(name)));
  }

  /** The name of a tool, for agents and middlewares: see `ToolNames`. */
  nameOf(address: ToolAddress): string {
    return this.names.nameOf(address);
  }

  /**
   * What a name stands for as far as a guard must know it: also one that was never listed is held to be of the server whose prefix it
   * has, since a call of it would reach that server; or of the one whose names have no prefix, while its tools are not known. Which tool
   * it would be is not known then, so that only a grant for all fits.
   */
  addressOf(name: string): ToolAddress | undefined {
    const known = this.resolve(name);
    const server = known === undefined ? this.names.ownerOfUnknown(name) : undefined;
    return server === undefined ? known : { server: server.name, tool: '' };
  }

  /** Lists the server that an unknown name may belong to; undefined if there is none, or nothing to learn. Never rejects. */
  learn(name: string, context: CallContext): Promise<void> | undefined {
    const server = this.resolve(name) === undefined ? this.names.ownerOfUnknown(name) : undefined;
    return server === undefined ? undefined : this.learnToolsOf(server.name, context);
  }

  /** Lists a server whose tools were never asked for; undefined if they are known, or there is no such server. Never rejects. */
  learnToolsOf(name: string, context: CallContext): Promise<void> | undefined {
    const server = this.#options.servers.get(name);
    if (server === undefined || server.knownTools !== undefined) return undefined;
    return this.#lists.toolsOf(server, context).then(
      () => {},
      () => {},
    );
  }

  /** The server that listed a resource (by URI or template) or prompt (by the name that agents know) last. */
  serverOf(kind: 'resource' | 'prompt', name: string): string | undefined {
    if (kind === 'prompt') return this.#prompts.get(name)?.server;
    return this.#lists.ownerNameOf('resources/list', name) ?? this.#lists.ownerNameOf('resources/templates/list', name);
  }

  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    // Whatever pages the servers have, they are one list here.
    if (isListMethod(method) && params.cursor !== undefined && params.cursor !== null)
      return Promise.reject(unknownCursor(method, params.cursor));
    switch (method) {
      case 'tools/call':
        return this.#callTool(params, context);
      case 'tools/list':
        return this.#listTools(context);
      case 'prompts/get':
        return this.#getPrompt(params, context);
      case 'resources/read':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#lists.requestOwner('resources/list', params.uri, method, params, context);
      case 'completion/complete':
        return this.#complete(params, context);
      default:
        return isListMethod(method) ? this.#list(method, context) : Promise.reject(unknownMethod(method));
    }
  }

  paramHeadersOf(tool: unknown): readonly ParamHeader[] {
    const address = typeof tool === 'string' ? this.resolve(tool) : undefined;
    const known = address === undefined ? undefined : this.#options.servers.get(address.server)?.knownTools;
    return known === undefined ? [] : paramHeadersOf(known, address?.tool);
  }

  takesTasks(tool: string, era: Era): boolean {
    const address = this.resolve(tool);
    return address !== undefined && this.#options.servers.get(address.server)?.tasksEra === era;
  }

  get haveTasksExtension(): boolean {
    return this.#direct.some(({ tasksEra }) => tasksEra === 'modern');
  }

  async started(): Promise<void> {
    if (!this.#areStarting) return;
    let stop = (): void => {};
    const started = new Promise<void>((resolve) => {
      stop = this.#options.servers.subscribe(() => {
        if (!this.#areStarting) resolve();
      });
    });
    await settlesWithin(started, startMs).finally(stop);
  }

  get #areStarting(): boolean {
    return this.#direct.some(({ status }) => status === 'starting');
  }

  watchTask(server: string, taskId: string, context: CallContext): () => void {
    return this.#options.servers.get(server)?.watchTask?.(taskId, context) ?? (() => {});
  }

  async requestTask(server: string, { method, params }: { method: string; params: JsonObject }, context: CallContext): Promise<JsonObject> {
    const found = this.#options.servers.get(server);
    if (found?.expose !== 'direct') throw new BridgeError('unknown_server', `The server "${server}" of this task is not there any more.`);
    return found.request(method, params, context);
  }

  isPerAgent(server: string): boolean {
    return this.#options.servers.get(server)?.isPerAgent === true;
  }

  onTaskReport(listener: (server: string, report: TaskReport) => void): () => void {
    return this.#options.servers.subscribe((event) => {
      if (event.kind === 'notification' && taskReports.has(event.notification.method))
        listener(event.server, { ...event.notification, params: event.notification.params ?? {} });
    });
  }

  notify(method: string, params: JsonObject | undefined, context?: CallContext): void {
    // Servers are shared by agents; of what one agent says only its calls concern them.
    if (method !== 'notifications/roots/list_changed') return;
    for (const server of this.#direct) server.notify(method, params, context);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#options.servers.subscribe((event) => {
      for (const told of this.#toProviderEvents(event)) listener(told);
    });
  }

  get #direct(): ToolServer[] {
    return this.#options.servers.all().filter(({ expose }) => expose === 'direct');
  }

  #toProviderEvents(event: ToolServerEvent): ProviderEvent[] {
    const isDirect = this.#options.servers.get(event.server)?.expose === 'direct';
    // What was learnt of owners may be wrong from here on.
    if (event.kind !== 'notification' || event.notification.method.endsWith('/list_changed')) this.#lists.forget();
    switch (event.kind) {
      case 'state':
        return [];
      case 'notification':
        // That its tools have changed a server says as `tools`, when the new ones are known; its tasks are known by other ids here.
        return isDirect && event.notification.method !== listChanged && !taskReports.has(event.notification.method)
          ? [{ ...event.notification, server: event.server }]
          : [];
      case 'removed':
        return [listChanged, 'notifications/prompts/list_changed', 'notifications/resources/list_changed'].map((method) => ({ method }));
      case 'added':
      case 'tools':
        return isDirect ? [{ method: listChanged }] : [];
    }
  }

  async #listTools(context: CallContext): Promise<ListToolsResult> {
    const lists = await Promise.all(this.#direct.map((server) => this.#lists.toolsOf(server, context)));
    const tools = new Map(
      lists.flatMap(({ server, tools: own }) => own.map((tool) => [toolKeyOf({ server, tool: tool.name }), tool] as const)),
    );
    const listed: Tool[] = [];
    for (const [name, address] of this.names.direct) {
      this.#listed.set(name, address);
      const tool = tools.get(toolKeyOf(address));
      if (tool !== undefined) listed.push({ ...tool, name });
      this.#tellRefused('tool', address, name);
    }
    const failed = lists.find(({ error }) => error !== undefined);
    if (listed.length === 0 && failed !== undefined) throw failed.error;
    return { tools: listed, ...mergeCacheHints(lists.map(({ cache }) => cache)) };
  }

  /** Said once: what is called otherwise than the config asks for. */
  #tellRefused(what: 'tool' | 'prompt', { server, tool }: ToolAddress, name: string): void {
    const { plain } = this.names;
    const why = plain.server?.name === server ? plain.whyRefused(tool) : undefined;
    const key = `${what} ${name}`;
    if (why === undefined || this.#refused.has(key)) return;
    this.#refused.add(key);
    const { configFile = 'The config', logger } = this.#options;
    logger.error(
      `${configFile}: "names" of the server "${server}" is "plain", but its ${what} ${quote(tool)} ${why}: agents call it "${name}". ` +
        `Rename one of the two, ${what === 'tool' ? 'leave the tool out with "tools.deny", ' : ''}or write "names": "prefixed".`,
    );
  }

  async #callTool(params: JsonObject, context: CallContext): Promise<JsonObject> {
    const name = params.name;
    if (typeof name !== 'string') throw new BridgeError('bad_params', `A tool call needs a "name", found ${quote(name)}.`);
    // A name may be older than our knowledge of it: after a restart of the hub nothing is known before the first list.
    if (context.target === undefined && this.resolve(name) === undefined) await this.#listTools(context);
    const address = context.target ?? this.resolve(name);
    // Without a target nothing said, when the guard decided, that the name is one of the server's.
    const isJudged = context.target !== undefined || context.caller.principal?.kind !== 'grant';
    if (!isJudged && address?.server === this.names.plain.server?.name) throw unknownTool(name);
    const server = address === undefined ? undefined : this.#options.servers.get(address.server);
    // A name of before an edit of the config must not reach what that has hidden.
    if (address === undefined || server?.expose !== 'direct') throw this.#whyNot(name, context);
    return server.request('tools/call', { ...params, name: address.tool }, context);
  }

  #whyNot(name: string, { caller }: CallContext): BridgeError {
    const why = this.whyUnknown(name) ?? unknownTool(name);
    // A grant may not know of the others.
    if (why.code !== 'unknown_tool' || caller.principal?.kind === 'grant') return why;
    const meant = didYouMean(name, [...this.names.direct.keys()]);
    return meant === undefined ? why : unknownTool(name, ` Did you mean "${meant}"?`);
  }

  async #list(method: ListMethod, context: CallContext): Promise<JsonObject> {
    const { items, key } = listMethods[method];
    if (method === 'prompts/list') return this.#listPrompts(context);
    // Of two with one name the server that stands first in the config has it, as for a request that names it.
    const listed = new Map<unknown, JsonObject>();
    const { all, cache } = await this.#lists.listAll(method, context);
    for (const { item } of all) if (!listed.has(item[key])) listed.set(item[key], item);
    return { [items]: [...listed.values()], ...cache };
  }

  async #listPrompts(context: CallContext): Promise<JsonObject> {
    const { found, cache } = await this.#promptOwners(context);
    return { prompts: [...found].map(([name, { item }]) => ({ ...item, name })), ...cache };
  }

  /** Prompts by the name that agents know. */
  async #promptOwners(
    context: CallContext,
  ): Promise<{ found: Map<string, { server: ToolServer; item: JsonObject }>; cache: CacheHints | undefined }> {
    const { all, cache } = await this.#lists.listAll('prompts/list', context);
    const byKey = new Map(all.map((entry) => [toolKeyOf({ server: entry.server.name, tool: String(entry.item.name) }), entry]));
    const addresses = all.map(({ server, item }) => ({ server: server.name, tool: String(item.name) }));
    const names = exposeNames(addresses, this.names.plain.rules);
    for (const [name, address] of names) this.#tellRefused('prompt', address, name);
    this.#prompts = names;
    return { found: new Map([...names].flatMap(([name, address]) => entryOf(name, byKey.get(toolKeyOf(address))))), cache };
  }

  async #getPrompt(params: JsonObject, context: CallContext): Promise<JsonObject> {
    const found = (await this.#promptOwners(context)).found.get(asText(params.name));
    if (found === undefined) throw new BridgeError('bad_params', `Unknown prompt: ${quote(params.name)}.`);
    return found.server.request('prompts/get', { ...params, name: found.item.name }, context);
  }

  async #complete(params: JsonObject, context: CallContext): Promise<JsonObject> {
    const ref = isJsonObject(params.ref) ? params.ref : {};
    if (ref.type !== 'ref/prompt')
      return this.#lists.requestOwner('resources/templates/list', ref.uri, 'completion/complete', params, context);
    const found = (await this.#promptOwners(context)).found.get(asText(ref.name));
    if (found === undefined) throw new BridgeError('bad_params', `Unknown prompt: ${quote(ref.name)}.`);
    return found.server.request('completion/complete', { ...params, ref: { ...ref, name: found.item.name } }, context);
  }
}

function entryOf<Value>(name: string, value: Value | undefined): [string, Value][] {
  return value === undefined ? [] : [[name, value]];
}

function unknownTool(name: string, more = ''): BridgeError {
  return new BridgeError('unknown_tool', `Unknown tool: ${quote(name)}.${more}`);
}

function unknownMethod(method: string): BridgeError {
  return new BridgeError('unknown_method', `The servers do not answer "${method}".`);
}

/** No name of ours is empty. */
function asText(name: unknown): string {
  return typeof name === 'string' ? name : '';
}
