import type { Cancellation } from '../core/cancellation.js';
import { BridgeError } from '../core/errors.js';

export interface WaitOptions {
  /** Who waits. Each has its turn, however many of another wait. Default: all are one. */
  who?: string | undefined;
  cancellation?: Cancellation | undefined;
  /** Ends the wait. Milliseconds. */
  timeoutMs: number;
  /** What the wait fails with then. */
  onTimeout: () => Error;
}

/** An entry of the queue, and how it stops waiting. */
interface Waiter<Thing> {
  settle: (thing: Thing) => void;
  fail: (error: Error) => void;
}

/** A queue of waiters: of each who waits, first in, first out; of several, in turns. */
export class WaitQueue<Thing> {
  /** Whose turn is next stands first; none is empty. */
  readonly #lines = new Map<string, Set<Waiter<Thing>>>();

  get length(): number {
    let length = 0;
    for (const line of this.#lines.values()) length += line.size;
    return length;
  }

  /** Rejects with `cancelled`, with what `onTimeout` returns, or with the error given to `failAll`. */
  wait({ who = '', cancellation, timeoutMs, onTimeout }: WaitOptions): Promise<Thing> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        stopListening?.();
        this.#leave(who, waiter);
      };
      const waiter: Waiter<Thing> = {
        settle: (thing) => {
          leave();
          resolve(thing);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const line = this.#lines.get(who) ?? new Set();
      this.#lines.set(who, line.add(waiter));
      // Longer than a timer can wait would fire at once.
      const timer = setTimeout(() => waiter.fail(onTimeout()), Math.min(timeoutMs, 2 ** 31 - 1));
      let stopListening: (() => void) | undefined;
      stopListening = cancellation?.onCancel((reason) =>
        waiter.fail(new BridgeError('cancelled', `Cancelled before it was sent: ${reason}`)),
      );
    });
  }

  /** Serves the first; false if the queue is empty. */
  settleFirst(thing: Thing): boolean {
    for (const [who, line] of this.#lines) {
      const [waiter] = line;
      waiter?.settle(thing);
      // Whoever else waits comes before the next of this one.
      if (this.#lines.delete(who) && line.size > 0) this.#lines.set(who, line);
      return true;
    }
    return false;
  }

  settleAll(thing: Thing): void {
    while (this.settleFirst(thing));
  }

  failAll(error: Error): void {
    for (const line of [...this.#lines.values()]) for (const waiter of [...line]) waiter.fail(error);
  }

  #leave(who: string, waiter: Waiter<Thing>): void {
    const line = this.#lines.get(who);
    line?.delete(waiter);
    if (line?.size === 0) this.#lines.delete(who);
  }
}
