import { setImmediate as nextTurn } from 'node:timers/promises';

/** For work that may take long: what else the process has to do has its turn each time that the work has gone on for so many milliseconds. */
export class TimeSlices {
  readonly #forMs: number;
  #since = performance.now();

  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  /** To be called often in the course of the work. */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < this.#forMs) return;
    await nextTurn();
    this.#since = performance.now();
  }
}
