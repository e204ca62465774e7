import { setImmediate as nextTurn } from 'node:timers/promises';
import { BridgeError } from '../../core/errors.js';
import { type Principal, principalKey } from '../../core/principal.js';
import { Slots } from '../../util/slots.js';

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
