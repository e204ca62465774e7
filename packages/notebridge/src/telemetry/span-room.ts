import type { Logger } from '@notebridge/kit/logger';

/**
 * The places in which spans wait to be sent. Once they are taken, no new trace is begun: it would be made in vain, and what arrives is then whole
 * traces rather than parts of all. That is told of once, and at the end with the number.
 */
export class SpanRoom {
  readonly #options: { most: number; logger: Logger; origin: string };
  #waiting = 0;
  #leftOut = 0;

  /** `most`: spans that may wait. `origin`: where they are sent. */
  constructor(options: { most: number; logger: Logger; origin: string }) {
    this.#options = options;
  }

  /** Takes a place for a span that has ended. False: there is none. */
  take(): boolean {
    if (!this.admits()) return false;
    this.#waiting++;
    return true;
  }

  /** Whether there is a place. If not, what asked is counted as left out. */
  admits(): boolean {
    const { most, logger, origin } = this.#options;
    if (this.#waiting < most) return true;
    if (++this.#leftOut === 1)
      logger.warn(
        `More traces than ${origin} takes: ${most} spans wait to be sent, and further traces are left out. "sampleRatio" makes them fewer.`,
      );
    return false;
  }

  /** So many spans are on their way. */
  free(count: number): void {
    this.#waiting -= count;
  }

  /** To be called once. */
  close(): void {
    if (this.#leftOut > 0)
      this.#options.logger.warn(`${this.#leftOut} traces, or parts of them, were left out: they did not fit into memory.`);
  }
}
