import type { Call } from './wire.js';

/** Calls that this page remembers; the hub itself has the last 1,000. */
const mostCalls = 100_000;

/** The calls that this page was told of, whatever order the news came in. */
export class KnownCalls {
  readonly #byId = new Map<string, Call>();
  #newestFirst: readonly Call[] | undefined;

  /** The newest first; another array when something has changed. */
  get newestFirst(): readonly Call[] {
    this.#newestFirst ??= [...this.#byId.values()].reverse().sort((one, other) => Number(other.id) - Number(one.id));
    return this.#newestFirst;
  }

  get running(): Call[] {
    return [...this.#byId.values()].filter(({ state }) => state === 'running');
  }

  find(id: string): Call | undefined {
    return this.#byId.get(id);
  }

  add(calls: readonly Call[]): void {
    for (const call of calls) {
      // What was asked for may be older than what was told.
      if (this.#byId.get(call.id)?.state === 'ended' && call.state === 'running') continue;
      this.#byId.set(call.id, call);
    }
    for (const id of this.#byId.keys()) {
      if (this.#byId.size <= mostCalls) break;
      this.#byId.delete(id);
    }
    this.#newestFirst = undefined;
  }

  /** Another hub counts its calls anew. */
  clear(): void {
    this.#byId.clear();
    this.#newestFirst = undefined;
  }
}
