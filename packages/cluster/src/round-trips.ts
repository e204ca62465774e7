const firstMs = 300;
const leastMs = 100;
const mostMs = 2_000;

/** How long an acknowledgement is waited for, by how long it took so far (RFC 6298, with the pause that the other side may make). */
export class RoundTrips {
  readonly #pauseMs: number;
  #smoothMs: number | undefined;
  #varianceMs = 0;

  /** `pauseMs`: how long an acknowledgement may be held back. */
  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs;
  }

  /** Of a frame that was sent once. */
  note(ms: number): void {
    if (this.#smoothMs === undefined) {
      this.#smoothMs = ms;
      this.#varianceMs = ms / 2;
      return;
    }
    this.#varianceMs += (Math.abs(ms - this.#smoothMs) - this.#varianceMs) / 4;
    this.#smoothMs += (ms - this.#smoothMs) / 8;
  }

  get smoothMs(): number {
    return this.#smoothMs ?? firstMs;
  }

  /** When a frame that was sent `times` times is sent again, after its last sending. */
  timeoutMs(times: number): number {
    const first = this.#smoothMs === undefined ? firstMs : this.#smoothMs + 4 * this.#varianceMs + 2 * this.#pauseMs;
    return Math.min(mostMs, Math.max(leastMs, first) * 2 ** (times - 1));
  }
}
