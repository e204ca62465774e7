import type { Cancellation } from '../core/cancellation.js';
import { BridgeError } from '../core/errors.js';
import { WaitQueue } from '../rpc/wait-queue.js';

export interface TurnOptions {
  /** Whose turn it is. */
  who: string;
  cancellation: Cancellation;
  timeoutMs: number;
}

/** One call at a time, among those that take turns. */
export class CallTurns {
  readonly #line = new WaitQueue<void>();
  #isTaken = false;

  /** Resolves to what ends the turn; ending it twice is harmless. Rejects with `timeout` or `cancelled`. */
  async take({ who, cancellation, timeoutMs }: TurnOptions): Promise<() => void> {
    const onTimeout = (): BridgeError =>
      new BridgeError(
        'timeout',
        `The server asks in the middle of calls, so that they run one at a time; none ended within ${timeoutMs} ms. The call was not sent.`,
      );
    if (this.#isTaken) await this.#line.wait({ who, cancellation, timeoutMs, onTimeout });
    this.#isTaken = true;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (!this.#line.settleFirst()) this.#isTaken = false;
    };
  }
}
