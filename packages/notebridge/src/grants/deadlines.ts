import type { Runtime } from '../util/runtime.js';

/** The two clocks of a process: one that people and other machines may set, and one that may stand still while the machine sleeps. */
export type Clocks = Pick<Runtime, 'now' | 'steady'>;

/**
 * Whether moments of the clock have come. The clock may be set back, which must not extend any deadline: a moment has also come when as
 * much time has passed as was left when it was first asked for here. What was asked for is remembered until `forget`.
 */
export class Deadlines {
  readonly #clocks: Clocks;
  readonly #ends = new Map<string, number>();

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

  forget(name: string, at: number): void {
    this.#ends.delete(keyOf(name, at));
  }
}

function keyOf(name: string, at: number): string {
  return `${name} ${at}`;
}
