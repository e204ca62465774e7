import type { SharedStore, StoreChange } from '../state/shared-store.js';
import type { Runtime } from '../util/runtime.js';

export interface WatchBeatOptions {
  store: SharedStore;
  runtime: Runtime;
  /** Ends with a `.`; beats are written below it, so that the watch of it tells them. */
  prefix: string;
}

/** Milliseconds, each. */
const beatEveryMs = 1500;
/** What the watch told may be so old at most. */
const currentForMs = 5000;
const keptByStoreMs = 15_000;
/** Of writes that no answer came to yet. */
const maxWaiting = 3;

/**
 * Finds out how old may be what a watch tells. A hub writes a mark of its own below the prefix, again and again; the watch tells in the
 * order of the writes, so once it tells a mark, it has told all that was written before the mark was sent. A connection that is lost, a
 * replica that lags, a process that was stopped: all of them keep the mark from coming.
 */
export class WatchBeat {
  readonly #options: WatchBeatOptions;
  /** When each mark was sent, by the steady clock. */
  readonly #sent = new Map<string, number>();
  #currentAt = Number.NEGATIVE_INFINITY;
  #entry: { key: string; revision: number } | undefined;
  #waiting = 0;
  #stopTimer: (() => void) | undefined;
  #isClosed = false;
  readonly #listeners = new Set<() => void>();

  constructor(options: WatchBeatOptions) {
    this.#options = options;
  }

  /** True if all that was written to the store until five seconds ago has been told. */
  isCurrent(): boolean {
    return this.#options.runtime.steady() - this.#currentAt <= currentForMs;
  }

  /** Takes what the watch tells. True if it was a mark, of whichever hub. */
  hear({ key, entry }: StoreChange): boolean {
    if (!key.startsWith(`${this.#options.prefix}${beat}`)) return false;
    const sentAt = entry === undefined ? undefined : this.#sent.get(entry.value);
    if (sentAt === undefined) return true;
    this.#currentAt = Math.max(this.#currentAt, sentAt);
    for (const [mark, at] of this.#sent) if (at < sentAt) this.#sent.delete(mark);
    for (const listener of this.#listeners) listener();
    return true;
  }

  /** Writes marks from now on. */
  start(): void {
    if (this.#isClosed) return;
    this.#stopTimer?.();
    this.#stopTimer = this.#options.runtime.after(beatEveryMs, () => this.start());
    if (this.#waiting < maxWaiting) void this.#beat();
  }

  /** Resolves to true once the watch has told all that was written before this call, or enough; after so many milliseconds to false. */
  settled(timeoutMs: number, isEnough: () => boolean = () => false): Promise<boolean> {
    const { runtime } = this.#options;
    const since = runtime.steady();
    return new Promise((resolve) => {
      const end = (isTold: boolean): void => {
        stop();
        this.#listeners.delete(look);
        resolve(isTold);
      };
      const look = (): void => {
        if (this.#currentAt >= since || isEnough()) end(true);
        else if (this.#isClosed) end(false);
      };
      const stop = runtime.after(timeoutMs, () => end(false));
      this.#listeners.add(look);
      look();
    });
  }

  /** Has those look that wait. */
  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer?.();
    this.wake();
  }

  async #beat(): Promise<void> {
    const { store, runtime, prefix } = this.#options;
    const mark = runtime.bytes(9).toString('base64url');
    const now = runtime.steady();
    // One that comes so late says nothing any more, and most that did not come never do.
    for (const [late, at] of this.#sent) if (now - at > currentForMs) this.#sent.delete(late);
    this.#sent.set(mark, now);
    const last = this.#entry;
    // Until it is known what has become of this one, the next takes another key.
    this.#entry = undefined;
    this.#waiting++;
    try {
      const key = last?.key ?? `${prefix}${beat}${mark}`;
      const options = { ttlMs: keptByStoreMs };
      const revision = last === undefined ? await store.create(key, mark, options) : await store.update(key, mark, last.revision, options);
      this.#entry = { key, revision };
    } catch {
      // The mark does not come, and that is what is to be found out.
    } finally {
      this.#waiting--;
    }
  }
}

const beat = 'beat_';
