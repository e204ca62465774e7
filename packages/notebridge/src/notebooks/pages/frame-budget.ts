/** Frames that a page may send unasked: this many at once, refilled by as many a second. */
export const unaskedFramesPerSecond = 20_000;

const framesPerMs = unaskedFramesPerSecond / 1000;
/** Pauses shorter than this cost more than they save. Milliseconds. */
const shortestPauseMs = 50;

/** Detects when a page floods. Every request of ours earns it one frame, its answer; all others draw on what refills with time. */
export class FrameBudget {
  readonly #now: () => number;
  #left = unaskedFramesPerSecond;
  #filledAt: number;
  #earned = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#filledAt = now();
  }

  earn(): void {
    this.#earned++;
  }

  /** Counts a frame. Returns how long to stop reading, in milliseconds; 0 while there is no need. */
  take(): number {
    if (this.#earned > 0) {
      this.#earned--;
      return 0;
    }
    const now = this.#now();
    const refilled = (now - this.#filledAt) * framesPerMs;
    this.#left = Math.min(unaskedFramesPerSecond, this.#left + refilled) - 1;
    this.#filledAt = now;
    return this.#left >= 0 ? 0 : Math.max(shortestPauseMs, -this.#left / framesPerMs);
  }
}
