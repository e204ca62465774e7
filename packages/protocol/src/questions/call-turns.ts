import { BridgeError } from '../core/errors.js';
import { type WaitOptions, WaitQueue } from '../rpc/wait-queue.js';

const serverAsks = (timeoutMs: number): string =>
  `The server asks in the middle of calls, so that they run one at a time; none ended within ${timeoutMs} ms. The call was not sent.`;

/** One call at a time, among those that take turns. */
export class CallTurns {
  readonly #line = new WaitQueue<void>();
  readonly #whyLate: (timeoutMs: number) => string;
  #isTaken = false;

  /** `whyLate`: said to who has waited for so long in vain. */
  constructor(whyLate = serverAsks) {
    this.#whyLate = whyLate;
  }

  /** Resolves to what ends the turn; ending it twice is harmless. Rejects with `timeout` or `cancelled`. */
  async take(waiting: Omit<WaitOptions, 'onTimeout'>): Promise<() => void> {
    const onTimeout = (): BridgeError => new BridgeError('timeout', this.#whyLate(waiting.timeoutMs));
    if (this.#isTaken) await this.#line.wait({ ...waiting, onTimeout });
    this.#isTaken = true;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (!this.#line.settleFirst()) this.#isTaken = false;
    };
  }
}
