/** Places of the ring at first: a request over HTTP has a table of its own, and one call in it. A power of two. */
const firstPlaces = 8;
/** Places of the ring once more calls are in flight; past them, and for ids that are no whole numbers, there is the map. A power of two. */
const mostPlaces = 256;

/**
 * Calls by their id. Ids of calls count upwards and live for a moment, which is the worst that can be done to a `Map`: it makes
 * a new table every few dozen calls, and an old one that reached the old generation keeps the next alive, with all its calls,
 * until a full collection. A ring indexed by the id makes no garbage.
 */
export class CallTable<Call> {
  #ids: (string | number | undefined)[] = new Array(firstPlaces).fill(undefined);
  #ring: (Call | undefined)[] = new Array(firstPlaces).fill(undefined);
  readonly #rest = new Map<string | number, Call>();
  #inRing = 0;

  get size(): number {
    return this.#inRing + this.#rest.size;
  }

  get(id: string | number): Call | undefined {
    const at = this.#indexOf(id);
    return at >= 0 && this.#ids[at] === id ? this.#ring[at] : this.#rest.get(id);
  }

  /** The id must not be in the table. */
  add(id: string | number, call: Call): void {
    let at = this.#indexOf(id);
    if (at >= 0 && this.#ids[at] !== undefined && this.#ids.length < mostPlaces) {
      this.#grow();
      at = this.#indexOf(id);
    }
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
    const at = this.#indexOf(id);
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

  /** All calls, in no order that means something. */
  all(): Call[] {
    return [...this.#ring.filter((call) => call !== undefined), ...this.#rest.values()];
  }

  /** Takes all calls out of the table. */
  takeAll(): Call[] {
    const ids = [...this.#ids.filter((id) => id !== undefined), ...this.#rest.keys()];
    return ids.map((id) => this.take(id)).filter((call) => call !== undefined);
  }

  /** Two ids that differ in the smaller ring differ in the larger one too. */
  #grow(): void {
    const [ids, ring] = [this.#ids, this.#ring];
    this.#ids = new Array(mostPlaces).fill(undefined);
    this.#ring = new Array(mostPlaces).fill(undefined);
    for (const [at, id] of ids.entries()) {
      if (id === undefined) continue;
      const place = this.#indexOf(id);
      this.#ids[place] = id;
      this.#ring[place] = ring[at];
    }
  }

  #indexOf(id: string | number): number {
    return typeof id === 'number' && Number.isInteger(id) ? id & (this.#ids.length - 1) : -1;
  }
}
