/** Runs that output may still come for. */
const maxRuns = 1000;

/** The runs of one kernel's life, by what its messages name them: what code shows after its cell has ended belongs to that cell. */
export class RecentRuns<Id, Run> {
  readonly #runs = new Map<Id, Run>();
  #latest: Run | undefined;

  get latest(): Run | undefined {
    return this.#latest;
  }

  add(id: Id, run: Run): void {
    this.#latest = run;
    this.#runs.set(id, run);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > maxRuns && oldest !== undefined) this.#runs.delete(oldest);
  }

  get(id: Id): Run | undefined {
    return this.#runs.get(id);
  }
}
