/** Reports what happens again and again: the first time at once, and what came since as a count, at most once per interval. */
export class Repeats {
  readonly #intervalMs: number;
  readonly #since = new Map<string, { times: number; report: (times: number) => void }>();

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** `report` is given how often it has happened since the last report of that key. */
  note(key: string, report: (times: number) => void): void {
    const known = this.#since.get(key);
    if (known !== undefined) {
      known.times++;
      known.report = report;
      return;
    }
    this.#begin(key, report);
    report(1);
  }

  #begin(key: string, report: (times: number) => void): void {
    const since = { times: 0, report };
    this.#since.set(key, since);
    setTimeout(() => {
      this.#since.delete(key);
      if (since.times === 0) return;
      this.#begin(key, since.report);
      since.report(since.times);
    }, this.#intervalMs).unref();
  }
}
