import type { SharedStore } from '../state/shared-store.js';
import { endIfGone } from './lease-entries.js';

/** Ids that are remembered. */
const maxIds = 1000;

/** Hubs that have ended. An id never comes back, so each is asked about until it has ended, and then no more: it may have had thousands of things. */
export class EndedHubs {
  readonly #store: SharedStore;
  readonly #asked = new Map<string, Promise<boolean>>();

  constructor(store: SharedStore) {
    this.#store = store;
  }

  /** As `endIfGone`. */
  isEnded(id: string): Promise<boolean> {
    const known = this.#asked.get(id);
    if (known !== undefined) return known;
    const asked = endIfGone(this.#store, id);
    this.#asked.set(id, asked);
    const forget = (): void => {
      if (this.#asked.get(id) === asked) this.#asked.delete(id);
    };
    asked.then((isEnded) => isEnded || forget(), forget);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > maxIds && oldest !== undefined) this.#asked.delete(oldest);
    return asked;
  }
}
