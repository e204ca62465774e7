import { BridgeError } from '@notebridge/protocol/core/errors';
import { deriveKey } from '@notebridge/protocol/util/derive-key';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import { SealedTexts } from '@notebridge/protocol/util/sealed-text';
import type { SharedStore, StoreChange, StoreWatch } from '@notebridge/system/files/shared-store';
import { endTimeOf } from './ended-grants.js';
import type { Grant } from './grant.js';
import type { GrantListener, GrantRecords, NotCounted } from './grant-records.js';
import { grantPrefix, keyOfGrant, readGrantEntry } from './shared-grant-entry.js';
import { type ReadGrant, SharedGrantWriter } from './shared-grant-writer.js';

export interface SharedGrantsOptions {
  store: SharedStore;
  runtime: Runtime;
  logger: Logger;
  /** What all hubs of the cluster have, and nobody else. */
  clusterKey: Uint8Array;
}

const maxLive = 10_000;
/** Live or ended. */
const maxKnown = 20_000;
const forgottenAtOnce = 50;
/** Who may write to the store must not fill the log. */
const maxTold = 100;
/** How long the start waits for the store. Without it no grant is accepted, and all else goes on. Milliseconds. */
const startMs = 2000;
const tryAgainMs = 1000;
/** Nobody waits for it, and what is given up may be lost. Milliseconds. */
const countMs = 60_000;
/** Given back or not: they count as used, so that a budget is never exceeded. */
export const unknownUse = 'Whether calls that were not made were given back to a grant is unknown. They count as used.';
/** How long a token that is not known waits to be told of. Milliseconds. */
const newTokenMs = 2000;

/**
 * The grants that the hubs of a cluster share: an entry for each, which a watch keeps in memory. Without the store for five seconds nothing is
 * accepted, since what was revoked meanwhile would not be known.
 */
export class SharedGrants implements GrantRecords {
  readonly isShared = true;
  readonly maxLive = maxLive;
  readonly #options: SharedGrantsOptions;
  readonly #listener: GrantListener;
  readonly #seals: SealedTexts;
  readonly #writer: SharedGrantWriter;
  readonly #beat: WatchBeat;
  /** As it was told or written last, by id. */
  readonly #known = new Map<string, ReadGrant>();
  /** Versions of those that were removed, the newest last: who may write to the store can remove one and then put an old state of it back. */
  readonly #gone = new Map<string, number>();
  /** Those that the log has told of. */
  readonly #refused = new Set<string>();
  #watch: StoreWatch | undefined;
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(options: SharedGrantsOptions, listener: GrantListener) {
    this.#options = options;
    this.#listener = listener;
    this.#seals = new SealedTexts(deriveKey(options.clusterKey, 'grants'), options.runtime);
    this.#writer = new SharedGrantWriter({ ...options, seals: this.#seals });
    this.#beat = new WatchBeat({ ...options, prefix: grantPrefix });
  }

  /** Resolves when all grants are known, or after two seconds without the store: then it goes on trying. */
  async start(): Promise<void> {
    const known = this.#beat.settled(startMs);
    void this.#watchOrRetry();
    await known;
  }

  isCurrent(): boolean {
    return this.#beat.isCurrent();
  }

  /** The watch tells. */
  refresh(): boolean {
    return false;
  }

  untilTold(isThere: () => boolean): Promise<boolean> {
    return this.#beat.settled(newTokenMs, isThere);
  }

  async add(grant: Grant, assertRoom: () => void): Promise<boolean> {
    assertRoom();
    const added = await this.#writer.create(grant);
    if (added !== undefined) this.#take(added);
    void this.#forgetOldest();
    return added !== undefined;
  }

  change<Result>(id: string, change: (grant: Grant | undefined) => Result): Promise<Result> {
    return this.#change(id, change);
  }

  async #change<Result>(id: string, change: (grant: Grant | undefined) => Result, timeoutMs?: number): Promise<Result> {
    // None is called so, and the store has no such key.
    if (!/^[\w-]+$/.test(id)) return change(undefined);
    const { result, written } = await this.#writer.change(id, this.#known.get(id), change, { timeoutMs, oldest: this.#gone.get(id) });
    if (written !== undefined) this.#take(written);
    return result;
  }

  async addUsed(changes: ReadonlyMap<string, number>, { isLast = false } = {}): Promise<NotCounted | undefined> {
    const ids = new Set<string>();
    let failure: unknown;
    const add = async ([id, change]: [string, number]): Promise<void> => {
      try {
        const count = (grant: Grant | undefined): void => {
          if (grant !== undefined) grant.used = Math.max(0, grant.used + change);
        };
        await this.#change(id, count, isLast ? undefined : countMs);
      } catch (error) {
        failure = error;
        if (!isUnknown(error)) ids.add(id);
        else this.#options.logger.warn(unknownUse, { grant_id: id, calls: Math.abs(change) });
      }
    };
    await Promise.all([...changes].map(add));
    return ids.size === 0 ? undefined : { ids, error: failure };
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer?.();
    this.#beat.close();
    this.#watch?.close();
  }

  /** The store forgets by itself, in time. Whoever issues more than that forgets what ended first; several hubs may do so. */
  async #forgetOldest(): Promise<void> {
    if (this.#known.size <= maxKnown) return;
    const now = this.#options.runtime.now();
    const ended = [...this.#known.values()].filter(({ grant }) => endTimeOf(grant) <= now);
    ended.sort((a, b) => endTimeOf(a.grant) - endTimeOf(b.grant));
    const removed = ended
      .slice(0, forgottenAtOnce)
      .map(({ grant, revision }) => this.#options.store.remove(keyOfGrant(grant.id), revision));
    // Another hub has, or will.
    await Promise.allSettled(removed);
  }

  async #watchOrRetry(): Promise<void> {
    const { store, runtime, logger } = this.#options;
    try {
      this.#beat.start();
      const watch = await store.watch(grantPrefix, (change) => this.#hear(change));
      if (this.#isClosed) watch.close();
      this.#watch = watch;
    } catch (error) {
      if (this.#isClosed) return;
      logger.warn(`Grants of the cluster cannot be read, so none is accepted: ${messageOf(error)}`);
      this.#stopTimer = runtime.after(tryAgainMs, () => void this.#watchOrRetry());
    }
  }

  #hear(change: StoreChange): void {
    if (this.#isClosed || this.#beat.hear(change)) return;
    const { key, entry, revision } = change;
    const id = key.slice(grantPrefix.length);
    const known = this.#known.get(id);
    if (entry === undefined) {
      if (known === undefined || known.revision > revision) return;
      this.#known.delete(id);
      this.#noteGone(id, known.version);
      this.#listener.drop(id);
      return;
    }
    const read = readGrantEntry(key, entry.value, this.#seals);
    if (read === undefined) this.#refuse(id, known, 'it was written by a newer version, or by nobody of this cluster');
    else if (read.version < (known?.version ?? this.#gone.get(id) ?? 0)) {
      if (revision > (known?.revision ?? 0)) this.#refuse(id, known, 'an old state of it was put back');
    } else this.#take({ ...read, revision });
    this.#beat.wake();
  }

  #take(read: ReadGrant): void {
    const { id } = read.grant;
    const known = this.#known.get(id);
    if (this.#isClosed || (known !== undefined && known.revision >= read.revision)) return;
    this.#known.set(id, read);
    this.#gone.delete(id);
    this.#listener.put(read.grant);
  }

  #noteGone(id: string, version: number): void {
    this.#gone.set(id, version);
    const [oldest] = this.#gone.keys();
    if (this.#gone.size > maxKnown && oldest !== undefined) this.#gone.delete(oldest);
  }

  /** What cannot be read in full must not open anything. */
  #refuse(id: string, known: ReadGrant | undefined, why: string): void {
    if (!this.#refused.has(id) && this.#refused.size < maxTold) {
      this.#refused.add(id);
      this.#options.logger.error(`A grant of the cluster is not accepted: ${why}.`, { grant_id: id });
    }
    if (known !== undefined) this.#listener.drop(id);
  }
}

/** True if nobody can tell whether what was to be written has been. */
function isUnknown(error: unknown): boolean {
  return error instanceof BridgeError && error.data.outcome === 'unknown';
}

interface WatchBeatOptions {
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
class WatchBeat {
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
