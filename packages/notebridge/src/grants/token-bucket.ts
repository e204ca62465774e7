/** So many at once, then at an even pace. */
export class TokenBucket {
  readonly #capacity: number;
  readonly #perMs: number;
  #tokens: number;
  #filledAt: number;

  /** `now`: milliseconds of a clock that is never set back. */
  constructor(perMinute: number, now: number) {
    this.#capacity = perMinute;
    this.#perMs = perMinute / 60_000;
    this.#tokens = perMinute;
    this.#filledAt = now;
  }

  /** Takes one. Returns 0, or how many milliseconds there is none. */
  take(now: number): number {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    if (this.#tokens < 1) return (1 - this.#tokens) / this.#perMs;
    this.#tokens--;
    return 0;
  }

  /** Puts back one that was taken for nothing. */
  putBack(): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + 1);
  }
}
