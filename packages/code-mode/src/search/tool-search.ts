import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallContext, Caller } from '@notebridge/protocol/core/call-context';
import { BridgeError, type ErrorCode } from '@notebridge/protocol/core/errors';
import type { ListerOf } from '@notebridge/protocol/core/may-list';
import { type ToolResult, withFailedResults } from '@notebridge/protocol/core/mcp';
import { owner, type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { Slots } from '@notebridge/protocol/util/slots';
import type { SavedSkill } from '../skills/saved-skills.js';
import { type LearnOptions, learnTools } from './known-tools.js';
import { answerOfDescribe, answerOfList, answerOfSearch, answerOfServers } from './search-answers.js';
import { parseDescribe, parseSearch } from './search-params.js';
import type { ResolveName } from './spellings.js';
import { type ToolView, ToolViews } from './tool-view.js';

export interface ToolSearchOptions extends LearnOptions {
  /**
   * What a principal may know of, which is: call. A server that was never listed is started for one that may know of it while its tools are not
   * known.
   */
  listerOf: ListerOf;
  /** Found beside the tools: those that a principal may know of. Default: none. */
  skillsOf?: ((principal: Principal) => readonly SavedSkill[]) | undefined;
  /** What stands behind a name that agents see, `server__tool` or shorter. Default: only what the names themselves say. */
  resolveName?: ResolveName | undefined;
}

/** Who searches. */
export type Searcher = Pick<CallContext, 'signal'> & { caller: Pick<Caller, 'principal'> };

/** Finds tools and describes them as code calls them, to each caller what it may call. Nothing is loaded before the first search. */
export class ToolSearch {
  readonly #options: ToolSearchOptions;
  readonly #turns = new SearchTurns();
  #views: ToolViews | undefined = new ToolViews();

  constructor(options: ToolSearchOptions) {
    this.#options = options;
  }

  /** Answers `search_tools`. Wrong arguments are a failed result. Rejects with `limit_reached` if the caller has too many under way. */
  search(params: unknown, searcher: Searcher): Promise<ToolResult> {
    return this.#answer(searcher, () => {
      const wanted = parseSearch(params);
      return async (view) => {
        const server = wanted.server === undefined ? undefined : view.server(wanted.server);
        if (wanted.query !== '') return answerOfSearch(view, wanted, await view.find({ ...wanted, server: server?.name }));
        return server === undefined ? answerOfServers(view, wanted) : answerOfList(view, server, wanted);
      };
    });
  }

  /** Answers `describe_tools`. Names that mean no tool are named beside the answers; a failed result if none means one. Rejects as `search` does. */
  describe(params: unknown, searcher: Searcher): Promise<ToolResult> {
    const { resolveName = () => undefined } = this.#options;
    return this.#answer(searcher, () => {
      const names = parseDescribe(params);
      return (view) => answerOfDescribe(view, names, resolveName);
    });
  }

  /** Searches from now on fail. Closing twice is harmless. */
  close(): void {
    this.#views = undefined;
  }

  #answer({ caller: { principal = owner }, signal }: Searcher, parse: () => AnswerFrom): Promise<ToolResult> {
    return withFailedResults(readable, () => this.#turns.admit(principal, async () => this.#look({ principal, signal }, parse())));
  }

  /** Answers from what the caller sees, when it is its turn. */
  async #look({ principal, signal }: { principal: Principal; signal: AbortSignal }, answer: AnswerFrom): Promise<ToolResult> {
    const { listerOf, skillsOf } = this.#options;
    const views = this.#views;
    if (views === undefined) throw new BridgeError('closed', 'The search of tools is closed.');
    const mayAsk = (server: string): boolean => listerOf(principal)(server, undefined);
    const servers = await learnTools(this.#options, mayAsk, signal);
    return this.#turns.take(signal, async () => answer(views.of(servers, skillsOf?.(principal) ?? [], listerOf(principal))));
  }
}

type AnswerFrom = (view: ToolView) => Promise<ToolResult>;

/** What an agent reads in place of an answer. */
const readable = { has: (code: ErrorCode): boolean => code !== 'closed' && code !== 'limit_reached' };

/** Searches of one caller that are under way at once. */
const mostOfOne = 16;

/** Has searches work one after the other, and everything else that the hub does have a turn before each. */
export class SearchTurns {
  readonly #slots = new Slots(1);
  /** Who waits for each search that is under way. */
  readonly #underWay: string[] = [];

  /** Rejects with `limit_reached` if the caller has too many: it costs nothing to search, so that nothing else would bound them. */
  async admit<Result>(principal: Principal, search: () => Promise<Result>): Promise<Result> {
    const caller = principalKey(principal);
    if (this.#underWay.filter((one) => one === caller).length >= mostOfOne)
      throw new BridgeError('limit_reached', `${mostOfOne} searches of yours are under way. Wait for some of them to end.`, {
        data: { retry_after_s: 1 },
      });
    this.#underWay.push(caller);
    try {
      return await search();
    } finally {
      this.#underWay.splice(this.#underWay.indexOf(caller), 1);
    }
  }

  /** Does the work of a search when it is its turn. It must wait for nothing but the process. */
  take<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    return this.#slots.run(async () => {
      await nextTurn();
      if (signal.aborted) throw new BridgeError('cancelled', 'Nobody waits for this search any more.');
      return work();
    });
  }
}
