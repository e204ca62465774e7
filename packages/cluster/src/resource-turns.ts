/** What is done to one resource is done one after the other. */
export class ResourceTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** All to which something is done. */
  get resources(): Iterable<string> {
    return this.#last.keys();
  }

  /** True while something is done to it. */
  has(resource: string): boolean {
    return this.#last.has(resource);
  }

  run<T>(resource: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(resource) ?? Promise.resolve();
    const turn = before.then(work);
    const settled: Promise<void> = turn.then(
      () => {},
      () => {},
    );
    this.#last.set(resource, settled);
    void settled.then(() => {
      if (this.#last.get(resource) === settled) this.#last.delete(resource);
    });
    return turn;
  }
}
