/** The two clocks of a process, in milliseconds. */
export interface Clocks {
  /** Since the epoch. People and other machines may set it, forwards and backwards. */
  now: () => number;
  /** Since some fixed moment, never set. It may stand still while the machine sleeps. */
  steady: () => number;
}

/**
 * Whether moments of the clock have come. The clock may be set back, which must not extend any deadline: a moment has also come when as
 * much time has passed as was left when it was first asked for here. What was asked for is remembered until `keepOnly`.
 */
export class Deadlines {
  readonly #clocks: Clocks;
  #ends = new Map<string, number>();

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** `name` and `at` together are one deadline: another time for the same name is another one. */
  isOver(name: string, at: number): boolean {
    const leftMs = at - this.#clocks.now();
    if (leftMs <= 0) return true;
    const key = keyOf(name, at);
    const end = this.#ends.get(key);
    if (end !== undefined) return end <= this.#clocks.steady();
    this.#ends.set(key, this.#clocks.steady() + leftMs);
    return false;
  }

  /** Forgets all others. */
  keepOnly(deadlines: Iterable<readonly [name: string, at: number]>): void {
    const kept = new Map<string, number>();
    for (const [name, at] of deadlines) {
      const end = this.#ends.get(keyOf(name, at));
      if (end !== undefined) kept.set(keyOf(name, at), end);
    }
    this.#ends = kept;
  }
}

function keyOf(name: string, at: number): string {
  return `${name} ${at}`;
}
