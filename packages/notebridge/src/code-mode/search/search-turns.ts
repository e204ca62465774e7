import { setImmediate as nextTurn } from 'node:timers/promises';
import { BridgeError } from '../../core/errors.js';
import { type Principal, principalKey } from '../../core/principal.js';
import { Slots } from '../../util/slots.js';

/** Searches of one caller that are under way at once. */
const mostOfOne = 16;

/** Has searches work one after the other, and everything else that the hub does have a turn before each. */
export class SearchTurns {
  readonly #slots = new Slots(1);
  /** How many each caller has. */
  readonly #underWay = new Map<string, number>();

  /** Rejects with `limit_reached` if the caller has too many: it costs nothing to search, so that nothing else would bound them. */
  async admit<Result>(principal: Principal, search: () => Promise<Result>): Promise<Result> {
    const caller = principalKey(principal);
    const before = this.#underWay.get(caller) ?? 0;
    if (before >= mostOfOne)
      throw new BridgeError('limit_reached', `${mostOfOne} searches of yours are under way. Wait for some of them to end.`, {
        data: { retry_after_s: 1 },
      });
    this.#underWay.set(caller, before + 1);
    try {
      return await search();
    } finally {
      const left = (this.#underWay.get(caller) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(caller);
      else this.#underWay.set(caller, left);
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
