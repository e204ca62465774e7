export interface TimeShareOptions {
  /** Of the process' time, for each caller. */
  share: number;
  /** So much may be used at once, milliseconds. */
  burstMs: number;
  /** A clock that is never set back, in milliseconds. Default: that of the process. */
  now?: (() => number) | undefined;
}

/** Callers that are remembered before those are looked for that owe nothing. */
const mostCallers = 1000;

/** How much of the process' time each caller may use: one who asks without pause must not hold up the calls of others. */
export class TimeShare {
  readonly #share: number;
  readonly #burstMs: number;
  readonly #now: () => number;
  /** What each has used and not yet been given back. Milliseconds. */
  readonly #used = new Map<string, { ms: number; at: number }>();

  constructor({ share, burstMs, now = () => performance.now() }: TimeShareOptions) {
    this.#share = share;
    this.#burstMs = burstMs;
    this.#now = now;
  }

  /** Does the work, and counts how long it takes, unless the caller has used up its share: then `refused`. */
  async spend<Result>(caller: string, work: () => Result | Promise<Result>): Promise<Result | 'refused'> {
    if (this.#usedBy(caller) >= this.#burstMs) return 'refused';
    const startedAt = this.#now();
    try {
      return await work();
    } finally {
      this.#note(caller, this.#now() - startedAt);
    }
  }

  #usedBy(caller: string): number {
    const { ms, at } = this.#used.get(caller) ?? { ms: 0, at: 0 };
    return Math.max(0, ms - (this.#now() - at) * this.#share);
  }

  #note(caller: string, ms: number): void {
    this.#used.set(caller, { ms: this.#usedBy(caller) + ms, at: this.#now() });
    if (this.#used.size <= mostCallers) return;
    for (const each of [...this.#used.keys()]) if (this.#usedBy(each) === 0) this.#used.delete(each);
  }
}
