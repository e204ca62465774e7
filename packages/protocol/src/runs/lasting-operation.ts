/** Work that may outlive the call that asked for it. It ends once, and whoever comes back for it waits for that. */
export class LastingOperation<Result> {
  /** Milliseconds since 1970. */
  readonly startedAt = Date.now();
  readonly ended: Promise<void>;
  #endedAt: number | undefined;
  #result: Result | undefined;
  #resolve: () => void = () => {};

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get hasEnded(): boolean {
    return this.#endedAt !== undefined;
  }

  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  /** Milliseconds; undefined until it has ended. */
  get durationMs(): number | undefined {
    return this.#endedAt === undefined ? undefined : this.#endedAt - this.startedAt;
  }

  get result(): Result | undefined {
    return this.#result;
  }

  /** The first end stays; false for a later one. */
  finish(result: Result): boolean {
    if (this.hasEnded) return false;
    this.#result = result;
    this.#endedAt = Date.now();
    this.#resolve();
    return true;
  }
}

/** Operations by their id, each seen by its owner alone: another's is answered like one that never was. */
export class OwnedOperations<Item extends { readonly id: string; readonly ownerKey: string }> extends Map<string, Item> {
  find(id: unknown, ownerKey: string): Item | undefined {
    const found = this.get(id as string);
    return found?.ownerKey === ownerKey ? found : undefined;
  }

  /** In the order in which they were added. */
  ofOwner(ownerKey: string): Item[] {
    return [...this.values()].filter((item) => item.ownerKey === ownerKey);
  }
}
