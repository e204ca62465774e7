/** So many at once, then at an even pace. */
export class TokenBucket {
  readonly #capacity: number;
  readonly #perMs: number;
  #tokens: number;
  #filledAt: number;

  /** `capacity`: at once; `perSecond`: what comes back. `now`: milliseconds of a clock that is never set back. */
  constructor({ capacity, perSecond }: { capacity: number; perSecond: number }, now: number) {
    this.#capacity = capacity;
    this.#perMs = perSecond / 1000;
    this.#tokens = capacity;
    this.#filledAt = now;
  }

  /** Takes so many. Returns 0, or how many milliseconds there are too few. */
  take(now: number, count = 1): number {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    if (this.#tokens < count) return (count - this.#tokens) / this.#perMs;
    this.#tokens -= count;
    return 0;
  }

  /** Puts back one that was taken for nothing. */
  putBack(): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + 1);
  }
}
