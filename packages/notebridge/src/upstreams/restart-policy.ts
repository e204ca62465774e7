/** A life shorter than this was no good start, and one as long as that wipes out what was before. Milliseconds. */
const goodStartMs = 10_000;
const healthyMs = 60_000;
const maxBadStarts = 5;
/** An address where nothing answers may be that of a server that is being replaced: about a minute, and a call waits for about three seconds of it. */
const maxDownTries = 10;
const waitedForTries = 6;

const firstPauseMs = 50;
const nextPauseMs = 250;
const longestPauseMs = 30_000;

/** Counts bad starts of a server, and decides when to start it again: at once the first time, then ever later, at last no more. */
export class RestartPolicy {
  #badStarts = 0;
  #downTries = 0;

  /** How often in a row it did not start, or lived for less than 10 s. */
  get badStarts(): number {
    return this.#badStarts;
  }

  /** Nothing has answered at its address for so long that nobody is to wait for it. */
  get isLongDown(): boolean {
    return this.#downTries >= waitedForTries;
  }

  /** It ended after `livedMs`, or did not start (0). Returns the pause before the next start; undefined: give up. */
  pauseAfter(livedMs: number): number | undefined {
    if (livedMs >= healthyMs) this.#badStarts = 0;
    if (livedMs < goodStartMs) this.#badStarts++;
    return this.#badStarts >= maxBadStarts ? undefined : pauseBefore(this.#badStarts);
  }

  /** Nothing answers at its address. Returns the pause before the next try; undefined: give up. */
  pauseWhileDown(): number | undefined {
    this.#downTries++;
    return this.#downTries >= maxDownTries ? undefined : pauseBefore(this.#downTries);
  }

  /** It runs. */
  start(): void {
    this.#downTries = 0;
  }

  /** One more try after it was given up: if it fails, it is given up again at once. */
  allowOne(): void {
    this.#badStarts = maxBadStarts - 1;
    this.#downTries = maxDownTries - 1;
  }

  reset(): void {
    this.#badStarts = 0;
    this.#downTries = 0;
  }
}

/** The pause before try number `tries + 1`. */
function pauseBefore(tries: number): number {
  if (tries <= 1) return firstPauseMs;
  const pauseMs = Math.min(longestPauseMs, nextPauseMs * 2 ** (tries - 2));
  // Servers that fell together should not all come back in the same moment.
  return pauseMs * (0.5 + Math.random() / 2);
}
