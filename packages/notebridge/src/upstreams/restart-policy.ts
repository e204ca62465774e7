/** A life shorter than this was no good start, and one as long as that wipes out what was before. Milliseconds. */
const goodStartMs = 10_000;
const healthyMs = 60_000;
const maxBadStarts = 5;

const firstPauseMs = 50;
const nextPauseMs = 250;
const longestPauseMs = 30_000;

/** Counts bad starts of a server, and decides when to start it again: at once the first time, then ever later, at last no more. */
export class RestartPolicy {
  #badStarts = 0;

  /** How often in a row it did not start, or lived for less than 10 s. */
  get badStarts(): number {
    return this.#badStarts;
  }

  /** It ended after `livedMs`, or did not start (0). Returns the pause before the next start; undefined: give up. */
  pauseAfter(livedMs: number): number | undefined {
    if (livedMs >= healthyMs) this.#badStarts = 0;
    if (livedMs < goodStartMs) this.#badStarts++;
    if (this.#badStarts >= maxBadStarts) return undefined;
    if (this.#badStarts <= 1) return firstPauseMs;
    const pauseMs = Math.min(longestPauseMs, nextPauseMs * 2 ** (this.#badStarts - 2));
    // Servers that fell together should not all come back in the same moment.
    return pauseMs * (0.5 + Math.random() / 2);
  }

  /** One more try after it was given up: if it fails, it is given up again at once. */
  allowOne(): void {
    this.#badStarts = maxBadStarts - 1;
  }

  reset(): void {
    this.#badStarts = 0;
  }
}
