import type { Cancellation } from '../core/cancellation.js';
import { BridgeError } from '../core/errors.js';

export interface WaitOptions {
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

/** A queue of waiters, first in, first out. */
export class WaitQueue<Thing> {
  readonly #waiters = new Set<Waiter<Thing>>();

  get length(): number {
    return this.#waiters.size;
  }

  /** Rejects with `cancelled`, with what `onTimeout` returns, or with the error given to `failAll`. */
  wait({ cancellation, timeoutMs, onTimeout }: WaitOptions): Promise<Thing> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        stopListening?.();
        this.#waiters.delete(waiter);
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
      this.#waiters.add(waiter);
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
    for (const waiter of this.#waiters) {
      waiter.settle(thing);
      return true;
    }
    return false;
  }

  settleAll(thing: Thing): void {
    while (this.settleFirst(thing));
  }

  failAll(error: Error): void {
    for (const waiter of [...this.#waiters]) waiter.fail(error);
  }
}
