import { BridgeError } from '../core/errors.js';
import type { Bound, Bounds } from './bounds.js';

/** The right to make one call. It is given back when the call has ended, however it ended. */
export interface Ticket {
  /** Releasing twice is harmless. */
  release(): void;
  /** Releases a call that is not made, and takes back what it was charged. Harmless once released. */
  undo(): void;
}

/**
 * Charges a call to every grant that it is held to: calls under way, rate, budget. What one of them refuses costs none.
 *
 * @throws BridgeError `budget_exhausted`. A promise only where a budget has to be asked from the file.
 */
export function charge(bounds: readonly Bound[], all: Bounds, now: number): Ticket | Promise<Ticket> {
  const charged = new Charge(all);
  try {
    for (const bound of bounds) charged.begin(bound, now);
    for (let at = 0; at < bounds.length; at++) {
      const bound = bounds[at] as Bound;
      const taken = all.takeCall(bound);
      if (typeof taken !== 'boolean') return charged.countLater(taken, bounds.slice(at));
      charged.count(bound, taken);
    }
    return charged;
  } catch (error) {
    charged.undo();
    throw error;
  }
}

class Charge implements Ticket {
  readonly #all: Bounds;
  readonly #begun: Bound[] = [];
  readonly #counted: Bound[] = [];
  #isReleased = false;

  constructor(all: Bounds) {
    this.#all = all;
  }

  begin(bound: Bound, now: number): void {
    const { concurrent, perMinute, bucket } = bound;
    if (concurrent !== undefined && bound.running >= concurrent)
      throw exhausted(bound, 'concurrent', `${concurrent} calls are under way, which is all it may have at once`);
    const waitMs = bucket?.take(now) ?? 0;
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1000);
      throw exhausted(bound, 'perMinute', `${perMinute} calls per minute are used up; try again in ${seconds} s`, seconds);
    }
    bound.running++;
    this.#begun.push(bound);
  }

  count(bound: Bound, isTaken: boolean): void {
    if (!isTaken) throw exhausted(bound, 'calls', `all of its ${bound.calls} calls are used`);
    this.#counted.push(bound);
  }

  /** `taken`: the answer for the first of the bounds that are left. */
  async countLater(taken: Promise<boolean>, [first, ...rest]: readonly Bound[]): Promise<Ticket> {
    try {
      this.count(first as Bound, await taken);
      for (const bound of rest) this.count(bound, await this.#all.takeCall(bound));
      return this;
    } catch (error) {
      this.undo();
      throw error;
    }
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    for (const bound of this.#begun) bound.running--;
  }

  undo(): void {
    if (this.#isReleased) return;
    this.release();
    for (const { bucket } of this.#begun) bucket?.putBack();
    for (const bound of this.#counted) this.#all.putBackCall(bound);
  }
}

function exhausted({ id }: Bound, rule: string, why: string, seconds?: number): BridgeError {
  const next = rule === 'calls' ? ' Have a new grant issued.' : rule === 'concurrent' ? ' Wait until one has ended.' : '';
  const data = { rule, grant_id: id, ...(seconds === undefined ? {} : { retry_after_s: seconds }) };
  return new BridgeError('budget_exhausted', `Grant ${id}: ${why}.${next}`, { data });
}
