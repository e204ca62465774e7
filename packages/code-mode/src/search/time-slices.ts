import { setImmediate as nextTurn } from 'node:timers/promises';

const sliceMs = 5;

/** For work that may take long: what else the process has to do has its turn each time that the work has gone on for five milliseconds. */
export class TimeSlices {
  #since = performance.now();

  /** To be called often in the course of the work. */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < sliceMs) return;
    await nextTurn();
    this.#since = performance.now();
  }
}
