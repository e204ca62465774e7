/** Calls in flight that are kept in the ring; more of them, and ids that are no whole numbers, go to the map. */
const ringSize = 256;

/**
 * Calls by their id. Ids of calls count upwards and live for a moment, which is the worst that can be done to a `Map`: it makes
 * a new table every few dozen calls, and an old one that reached the old generation keeps the next alive, with all its calls,
 * until a full collection. A ring indexed by the id makes no garbage.
 */
export class CallTable<Call> {
  readonly #ids: (string | number | undefined)[] = new Array(ringSize).fill(undefined);
  readonly #ring: (Call | undefined)[] = new Array(ringSize).fill(undefined);
  readonly #rest = new Map<string | number, Call>();
  #inRing = 0;

  get size(): number {
    return this.#inRing + this.#rest.size;
  }

  get(id: string | number): Call | undefined {
    const at = indexOf(id);
    return at >= 0 && this.#ids[at] === id ? this.#ring[at] : this.#rest.get(id);
  }

  /** The id must not be in the table. */
  add(id: string | number, call: Call): void {
    const at = indexOf(id);
    if (at < 0 || this.#ids[at] !== undefined) {
      this.#rest.set(id, call);
      return;
    }
    this.#ids[at] = id;
    this.#ring[at] = call;
    this.#inRing++;
  }

  /** Takes a call out of the table; undefined if it is not there. */
  take(id: string | number): Call | undefined {
    const at = indexOf(id);
    if (at < 0 || this.#ids[at] !== id) {
      const call = this.#rest.get(id);
      this.#rest.delete(id);
      return call;
    }
    const call = this.#ring[at];
    this.#ids[at] = undefined;
    this.#ring[at] = undefined;
    this.#inRing--;
    return call;
  }

  /** Takes all calls out of the table. */
  takeAll(): Call[] {
    const ids = [...this.#ids.filter((id) => id !== undefined), ...this.#rest.keys()];
    return ids.map((id) => this.take(id)).filter((call) => call !== undefined);
  }
}

function indexOf(id: string | number): number {
  return typeof id === 'number' && Number.isInteger(id) ? id & (ringSize - 1) : -1;
}
