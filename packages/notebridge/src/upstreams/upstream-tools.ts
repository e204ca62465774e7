import type { CacheHints } from '@notebridge/protocol/core/cache-hints';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { declaredHeaders } from '@notebridge/protocol/core/param-headers';
import type { LeftOutEntry } from '@notebridge/protocol/core/tool-server';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { matchAny } from '@notebridge/protocol/util/name-patterns';
import { quote } from '@notebridge/protocol/util/quote';
import { Throttle } from '@notebridge/protocol/util/throttle';
import { toLeftOut } from '../catalog/valid-entries.js';
import type { ServerConfig, UpstreamSettings } from '../config/server-config.js';
import { type FetchedList, fetchList, type LeftOutLog } from './fetch-list.js';
import { unavailable } from './unavailable.js';
import type { UpstreamSession } from './upstream-session.js';

export interface UpstreamToolsOptions {
  config: ServerConfig;
  logger: Logger;
  /** Waits for a session with the server; starts it if need be. */
  ready: (context?: CallContext) => Promise<UpstreamSession>;
  log: LeftOutLog;
  /** There is a new list, and it is known already. */
  onChange: () => void;
}

/** A list that keeps being reported as changed is asked for no more often. Milliseconds. */
const changeIntervalMs = 100;
/** A name that is not in the list may be new; but a list that was read just now is not read again for it. Milliseconds. */
const freshMs = 1000;
type ToolsByName = ReadonlyMap<string, Tool>;

const nothing: FetchedList = { items: [], leftOut: [], changed: 0, cache: undefined };

/** What is known of the tools of a server, as far as its config lets them be seen. */
export class UpstreamTools {
  readonly #options: UpstreamToolsOptions;
  readonly #changes = new Throttle(changeIntervalMs);
  #filter: ToolFilter;
  /** As the server listed them. */
  #all: ToolsByName | undefined;
  #shown: ToolsByName | undefined;
  #list: readonly Tool[] | undefined;
  #fetching: Promise<FetchedList> | undefined;
  #leftOut: readonly LeftOutEntry[] = [];
  /** How often it was said, or may be, that the list has changed; and how often when the reading began that is shown. */
  #changed = 0;
  #shownSince = 0;
  #cache: CacheHints | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;

  constructor(options: UpstreamToolsOptions) {
    this.#options = options;
    this.#filter = createToolFilter(options.config.tools);
  }

  get known(): readonly Tool[] | undefined {
    return this.#list;
  }

  /** What the server listed last and no agent can use, as far as the config would show it. */
  get leftOut(): readonly LeftOutEntry[] {
    return this.#leftOut.filter(({ name }) => typeof name !== 'string' || this.#filter(name));
  }

  find(name: unknown): Tool | undefined {
    return this.#shown?.get(name as string);
  }

  /** How long the list still holds, as its server said; undefined if that is unknown. */
  get cacheHints(): CacheHints | undefined {
    if (this.#cache === undefined || this.#isStale) return undefined;
    const ageMs = Math.ceil(performance.now() - this.#fetchedAt);
    return { ...this.#cache, ttlMs: Math.max(0, this.#cache.ttlMs - ageMs) };
  }

  get #isStale(): boolean {
    return this.#shownSince < this.#changed;
  }

  /** The list as it is now: not one from before the last change. Rejects with `upstream_unavailable` or `cancelled`. */
  async list(context?: CallContext): Promise<readonly Tool[]> {
    if (this.#list === undefined || this.#isStale) await this.#fetch(context);
    return this.#list ?? [];
  }

  /** Rejects with `unknown_tool` for a name that the config hides, or that a list which was just read does not have. */
  async assertMayExist(name: unknown, context: CallContext): Promise<void> {
    const { config } = this.#options;
    if (typeof name !== 'string' || !this.#filter(name)) throw this.#unknown(name);
    // Never listed: the server itself knows best.
    if (this.#shown === undefined) return;
    if (performance.now() - this.#fetchedAt > freshMs) {
      await this.#fetch(context).catch((error: unknown) => {
        this.#options.logger.debug(`The tools of "${config.name}" were not read again.`, { error: messageOf(error) });
      });
    }
    if (this.find(name) === undefined) throw this.#unknown(name);
  }

  /** Reads the list from a server that has just started; reports it if it differs from the one before. */
  refresh(session: UpstreamSession): void {
    this.#changed++;
    this.#read(session, false).catch((error: unknown) => this.#warn(error));
  }

  /** The server has announced that its list changed. */
  refreshSoon(session: UpstreamSession): void {
    this.#changed++;
    this.#changes.run('tools', () => void this.#read(session, true).catch((error: unknown) => this.#warn(error)));
  }

  /** Another config: the same tools through another filter. */
  update(config: ServerConfig): void {
    this.#filter = createToolFilter(config.tools);
    if (this.#all === undefined) return;
    this.#show(this.#all);
    this.#options.onChange();
  }

  /** Reads the list, whatever is known of it. Rejects as `list` does. */
  async readAgain(context: CallContext): Promise<void> {
    this.#changed++;
    await this.list(context);
  }

  async #fetch(context?: CallContext): Promise<void> {
    const { config, ready } = this.#options;
    const session = await ready(context);
    try {
      await (this.#fetching ?? this.#read(session, false));
      // A reading that failed and was overtaken shows nothing: then the later one counts.
      while (this.#list === undefined && this.#fetching !== undefined) await this.#fetching;
      // The one under way may have begun before the list changed.
      if (this.#isStale) await (this.#fetching ?? this.#read(session, false));
    } catch (error) {
      throw unavailable(config.name, `"${config.name}" did not list its tools: ${messageOf(error)}`, 'no', error);
    }
  }

  async #read(session: UpstreamSession, isChanged: boolean): Promise<void> {
    const { config, logger, log, onChange } = this.#options;
    const server = config.name;
    const fetching = session.can('tools') ? fetchList(session, 'tools/list', { server, logger }) : Promise.resolve(nothing);
    this.#fetching = fetching;
    const since = this.#changed;
    try {
      const { items, leftOut, changed, cache } = await fetching;
      // A later reading counts, whichever ends first; until there is one, an overtaken one is better than none.
      if (this.#fetching !== fetching && this.#all !== undefined) return;
      this.#shownSince = since;
      this.#cache = cache;
      this.#fetchedAt = performance.now();
      const { tools, misdeclared } = this.#callable(session, items as readonly Tool[]);
      this.#leftOut = [...leftOut, ...misdeclared];
      log.report('tools/list', { leftOut: this.leftOut, changed });
      const isNew = this.#all === undefined || !isSameList(tools, this.#all);
      this.#show(tools);
      if (isNew || isChanged) onChange();
    } finally {
      if (this.#fetching === fetching) this.#fetching = undefined;
    }
  }

  /** Without those that must not be called over HTTP, since their headers cannot be told. */
  #callable(session: UpstreamSession, items: readonly Tool[]): { tools: ToolsByName; misdeclared: LeftOutEntry[] } {
    const isWithHeaders = this.#options.config.transport !== 'stdio' && session.handshake.era === 'modern';
    const misdeclared: LeftOutEntry[] = [];
    const tools = new Map<string, Tool>();
    for (const tool of items) {
      const { fault } = isWithHeaders ? declaredHeaders(tool.inputSchema) : { fault: undefined };
      if (fault === undefined) tools.set(tool.name, tool);
      else misdeclared.push(toLeftOut('tools/list', tool, fault.replace(/\.$/, '')));
    }
    return { tools, misdeclared };
  }

  #show(tools: ToolsByName): void {
    this.#all = tools;
    this.#shown = new Map([...tools].filter(([name]) => this.#filter(name)));
    this.#list = [...this.#shown.values()];
  }

  #unknown(name: unknown): BridgeError {
    const names = (this.#list ?? []).map((tool) => tool.name);
    const meant = typeof name === 'string' ? didYouMean(name, names) : undefined;
    const hint = meant === undefined ? '' : ` Did you mean ${quote(meant)}?`;
    const data = meant === undefined ? {} : { data: { suggestion: meant } };
    return new BridgeError('unknown_tool', `"${this.#options.config.name}" has no tool ${quote(name)}.${hint}`, data);
  }

  #warn(error: unknown): void {
    const { config, logger } = this.#options;
    logger.warn(`The tools of "${config.name}" could not be listed.`, { server: config.name, error: messageOf(error) });
  }
}

function isSameList(one: ToolsByName, other: ToolsByName): boolean {
  return one.size === other.size && JSON.stringify([...one.values()]) === JSON.stringify([...other.values()]);
}

/** Says of the name of a tool whether the config lets it be seen and called. */
export type ToolFilter = (tool: string) => boolean;

/** `allow` and `deny` of a config: names in which `*` stands for any text and `?` for one character. What is denied is denied. */
export function createToolFilter({ allow, deny }: UpstreamSettings['tools']): ToolFilter {
  const isAllowed = allow === undefined ? () => true : matchAny(allow);
  const isDenied = matchAny(deny);
  return (tool) => isAllowed(tool) && !isDenied(tool);
}
