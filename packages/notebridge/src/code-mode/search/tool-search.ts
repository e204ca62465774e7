import { loadStubs } from '@notebridge/bindings';
import { type Logger, silentLogger } from '@notebridge/kit/logger';
import type { CallContext, Caller } from '../../core/call-context.js';
import { BridgeError } from '../../core/errors.js';
import { type Tool, type ToolResult, toFailedResult, toTextResult } from '../../core/mcp.js';
import { owner, type Principal } from '../../core/principal.js';
import type { SavedSkills } from '../../core/saved-skills.js';
import type { ToolAddress } from '../../core/tool-address.js';
import type { ToolServers } from '../../core/tool-server.js';
import { KnownTools } from './known-tools.js';
import { type DescribeParams, parseDescribe, parseSearch, type SearchParams } from './parse-params.js';
import { answerOfList, answerOfSearch, answerOfServers } from './search-answers.js';
import type { Entry, FoundEntry, SearchedTools } from './searched-tools.js';
import { isReadOnly } from './show-tools.js';
import { Spellings } from './spellings.js';
import { ToolView } from './tool-view.js';
import { writeStubs } from './write-stubs.js';

export interface ToolSearchOptions {
  servers: ToolServers;
  /**
   * Whether the principal may know of a tool, which is: call it. With undefined for the tool: of a server whose tools are not known, or
   * that has none; only then is a server started that was never listed.
   */
  mayList: (principal: Principal, server: string, tool: Tool | undefined) => boolean;
  /** Found beside the tools. Default: none. */
  skills?: SavedSkills | undefined;
  /** What stands behind a name that agents see, `server__tool` or shorter. Default: only what the names themselves say. */
  resolveName?: ((name: string) => ToolAddress | undefined) | undefined;
  logger?: Logger | undefined;
  /** How long one search waits for servers that were never listed, milliseconds. Default 5,000. What is not there by then is named. */
  listMs?: number | undefined;
}

/** Who searches. */
export type Searcher = Pick<CallContext, 'signal'> & { caller: Pick<Caller, 'principal'> };

/** Finds tools and describes them as code calls them, to each caller what it may call. Nothing is loaded before the first search. */
export class ToolSearch {
  readonly #options: ToolSearchOptions;
  readonly #known: KnownTools;
  #searched: Promise<SearchedTools> | undefined;
  #isClosed = false;

  constructor(options: ToolSearchOptions) {
    const { servers, logger = silentLogger, listMs = 5000 } = options;
    this.#options = options;
    this.#known = new KnownTools({ servers, logger, listMs });
  }

  /** Answers `search_tools`. Wrong arguments are a failed result. */
  search(params: unknown, context: Searcher): Promise<ToolResult> {
    return this.#answer(async () => {
      const wanted = parseSearch(params);
      const view = await this.#look(context);
      const server = wanted.server === undefined ? undefined : view.server(wanted.server);
      if (wanted.query !== '') return answerOfSearch(view, wanted, await this.#find(view, { ...wanted, server: server?.name }, context));
      return server === undefined ? answerOfServers(view, wanted) : answerOfList(view, server, wanted);
    });
  }

  /** Answers `describe_tools`. Names that mean no tool are named beside the answers; a failed result if none means one. */
  describe(params: unknown, context: Searcher): Promise<ToolResult> {
    return this.#answer(async () => {
      const { tools }: DescribeParams = parseDescribe(params);
      const view = await this.#look(context);
      const stubs = await loadStubs(view.bound());
      const { resolveName = () => undefined } = this.#options;
      const spellings = new Spellings({ view, stubs, resolveName });
      const found = tools.map((name) => ({ name, address: spellings.resolve(name) }));
      const unknown = found.flatMap(({ name, address }) => (address === undefined ? [spellings.complain(name)] : []));
      const known = new Map(
        found.flatMap(({ address }) => (address === undefined ? [] : [[`${address.server}\0${address.tool}`, address]])),
      );
      const notes = [...unknown, view.leftOut()].filter((note) => note !== '');
      if (known.size === 0) throw new BridgeError('unknown_tool', notes.join('\n'));
      const written = await writeStubs(stubs, [...known.values()]);
      return toTextResult([written.text, [...written.notes, ...notes].join('\n')].filter((part) => part !== '').join('\n\n\n'));
    });
  }

  /** Searches from now on fail. Closing twice is harmless. */
  close(): void {
    this.#isClosed = true;
    this.#searched = undefined;
  }

  async #answer(work: () => Promise<ToolResult>): Promise<ToolResult> {
    try {
      if (this.#isClosed) throw new BridgeError('closed', 'The search of tools is closed.');
      return await work();
    } catch (error) {
      if (error instanceof BridgeError && error.code !== 'closed') return toFailedResult(error.code, error.message);
      throw error;
    }
  }

  async #look({ caller: { principal = owner }, signal }: Searcher): Promise<ToolView> {
    const { mayList, skills } = this.#options;
    const servers = await this.#known.learn((server) => mayList(principal, server, undefined), signal);
    const all = skills?.all() ?? none;
    const searched = await this.#index();
    await searched.renew(servers, all);
    const seen = all.filter((skill) => skills?.maySee(principal, skill) === true);
    return new ToolView({ servers, skills: seen, mayList: (server, tool) => mayList(principal, server, tool), isFull: searched.isFull });
  }

  async #find(
    view: ToolView,
    { query, server, readOnly }: Pick<SearchParams, 'query' | 'server' | 'readOnly'>,
    { caller }: Searcher,
  ): Promise<FoundEntry[]> {
    const { mayList } = this.#options;
    const { principal = owner } = caller;
    const skills = new Set(view.skills);
    const mayFind = (entry: Entry): boolean => {
      if (entry.kind === 'skill') return server === undefined && !readOnly && skills.has(entry.skill);
      if (server !== undefined && entry.server !== server) return false;
      return (!readOnly || isReadOnly(entry.tool)) && mayList(principal, entry.server, entry.tool);
    };
    return (await this.#index()).find(query, mayFind);
  }

  #index(): Promise<SearchedTools> {
    this.#searched ??= import('./searched-tools.js').then(({ SearchedTools: Index }) => new Index());
    return this.#searched;
  }
}

/** The same array each time: an index that was made of it stays. */
const none: readonly never[] = [];
