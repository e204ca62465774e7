import { setTimeout as delay } from 'node:timers/promises';

/** Refusals that may wait at once; any beyond them are sent without a wait. */
const maxWaiting = 64;
/** Wrong tokens in a row that cost nothing: a stale tab tries once or twice. */
const freeTries = 3;
const firstDelayMs = 100;
const longestDelayMs = 2000;
const forgetAfterMs = 60_000;

/**
 * Slows down token guessing: each wrong one makes the next refusal slower. It delays answers to wrong tokens only,
 * so the holder of the right one never waits.
 */
export class AuthBackoff {
  #count = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  readonly #now: () => number;

  /** `now`: milliseconds of a clock that is never set back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a wrong token, and waits as long as its refusal has to. False if too many wait already. */
  async wait(): Promise<boolean> {
    const delayMs = this.add();
    if (delayMs === 0) return true;
    if (this.#waiting >= maxWaiting) return false;
    this.#waiting++;
    await delay(delayMs, undefined, { ref: false });
    this.#waiting--;
    return true;
  }

  /** Counts a wrong token. Returns how long its refusal waits, in milliseconds. */
  add(): number {
    const now = this.#now();
    if (now - this.#lastAt > forgetAfterMs) this.#count = 0;
    this.#lastAt = now;
    this.#count++;
    return this.#count <= freeTries ? 0 : Math.min(longestDelayMs, firstDelayMs * 2 ** (this.#count - freeTries - 1));
  }
}
