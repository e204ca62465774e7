import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import type { SealedTexts } from '@notebridge/protocol/util/sealed-text';
import { type SharedStore, StoreConflict, StoreUnavailable } from '@notebridge/system/files/shared-store';
import type { Grant } from './grant.js';
import { keyOfGrant, nextEntry, printGrantEntry, readGrantEntry, type SharedGrantEntry, ttlOfGrant } from './shared-grant-entry.js';

/** A grant of the store, and which write it is of. */
export type ReadGrant = SharedGrantEntry & { revision: number };

export interface SharedGrantWriterOptions {
  store: SharedStore;
  runtime: Runtime;
  seals: SealedTexts;
}

/** After so long without success a change is given up, unless its caller has more time. Milliseconds. */
const giveUpMs = 5000;
const longestPauseMs = 250;

/** What has become of a write: it was made, or this was there instead (undefined: nothing was). */
type Written = { isWritten: true; read: ReadGrant } | { isWritten: false; instead: ReadGrant | undefined };

/**
 * Writes grants by compare-and-set, so that each write follows the one that it was made from. Where no answer comes, the same write is
 * sent again: it can be made once at most. Whether it was the first or the second is told by its mark.
 */
export class SharedGrantWriter {
  readonly #options: SharedGrantWriterOptions;

  constructor(options: SharedGrantWriterOptions) {
    this.#options = options;
  }

  /** Undefined: there is one of that id. */
  async create(grant: Grant): Promise<ReadGrant | undefined> {
    const written = await this.#write(nextEntry(grant, this.#mark()), undefined, new Attempts(this.#options.runtime, giveUpMs));
    return written.isWritten ? written.read : undefined;
  }

  /**
   * `known`: the grant as it was last seen; `oldest`: the version below which a state is an old one. See `GrantRecords.change`. `written`
   * undefined: nothing was changed.
   */
  async change<Result>(
    id: string,
    known: ReadGrant | undefined,
    change: (grant: Grant | undefined) => Result,
    { timeoutMs = giveUpMs, oldest = 0 }: { timeoutMs?: number | undefined; oldest?: number | undefined } = {},
  ): Promise<{ result: Result; written: ReadGrant | undefined }> {
    const attempts = new Attempts(this.#options.runtime, timeoutMs);
    let base = known ?? (await this.#get(id, attempts));
    for (;;) {
      if (base !== undefined && base.version < oldest) throw oldState();
      const grant = base && { ...base.grant };
      const result = change(grant);
      if (base === undefined || grant === undefined || JSON.stringify(grant) === JSON.stringify(base.grant))
        return { result, written: undefined };
      const written = await this.#write(nextEntry(grant, this.#mark(), base), base, attempts);
      if (written.isWritten) return { result, written: written.read };
      base = written.instead;
      attempts.assertTime();
    }
  }

  async #write(entry: SharedGrantEntry, base: ReadGrant | undefined, attempts: Attempts): Promise<Written> {
    const { store, runtime, seals } = this.#options;
    const key = keyOfGrant(entry.grant.id);
    const value = printGrantEntry(entry, seals);
    const options = { ttlMs: ttlOfGrant(entry.grant, runtime.now()) };
    for (let isUnsure = false; ; ) {
      try {
        const revision =
          base === undefined ? await store.create(key, value, options) : await store.update(key, value, base.revision, options);
        return { isWritten: true, read: { ...entry, revision } };
      } catch (error) {
        if (error instanceof StoreConflict) return this.#afterConflict(entry, base, { isUnsure, attempts });
        isUnsure = true;
        await attempts.pause(error, isUnsure);
      }
    }
  }

  /** Another entry is there than the one that was to be written over. It may be this one, if no answer came to an earlier try. */
  async #afterConflict(
    entry: SharedGrantEntry,
    base: ReadGrant | undefined,
    { isUnsure, attempts }: { isUnsure: boolean; attempts: Attempts },
  ): Promise<Written> {
    const newer = await this.#getNewer(entry.grant.id, base, { isUnsure, attempts });
    if (!isUnsure) return { isWritten: false, instead: newer };
    if (newer?.marks.includes(entry.marks.at(-1) ?? '')) return { isWritten: true, read: newer };
    // All writes since are known, and it is none of them.
    const isKnown = newer !== undefined && (base === undefined || newer.marks.includes(base.marks.at(-1) ?? ''));
    if (isKnown) return { isWritten: false, instead: newer };
    throw unavailable(true);
  }

  /** What was written after `base`. Reads may be old, so it is asked until it is there. */
  async #getNewer(
    id: string,
    base: ReadGrant | undefined,
    { isUnsure, attempts }: { isUnsure: boolean; attempts: Attempts },
  ): Promise<ReadGrant | undefined> {
    for (let missing = 0; ; ) {
      const found = await this.#get(id, attempts, isUnsure);
      if (found !== undefined && found.revision > (base?.revision ?? 0)) {
        if (found.version > (base?.version ?? 0)) return found;
        throw oldState();
      }
      // A replica that lags knew it once: where nothing is, again and again, it has been removed.
      if (found === undefined && base !== undefined && ++missing > 10) return undefined;
      await attempts.pause(undefined, isUnsure);
    }
  }

  async #get(id: string, attempts: Attempts, isUnsure = false): Promise<ReadGrant | undefined> {
    const { store, seals } = this.#options;
    for (;;) {
      try {
        const entry = await store.get(keyOfGrant(id));
        const read = entry && readGrantEntry(entry.key, entry.value, seals);
        return entry && read && { ...read, revision: entry.revision };
      } catch (error) {
        await attempts.pause(error, isUnsure);
      }
    }
  }

  #mark(): string {
    return this.#options.runtime.bytes(6).toString('base64url');
  }
}

/** How long one change has been tried, and the pauses between. */
class Attempts {
  readonly #runtime: Runtime;
  readonly #since: number;
  readonly #timeoutMs: number;
  #pauses = 0;

  constructor(runtime: Runtime, timeoutMs: number) {
    this.#runtime = runtime;
    this.#timeoutMs = timeoutMs;
    this.#since = runtime.steady();
  }

  /** Rejects with what is no fault of the store, or with `cluster_unavailable` if the time is over. */
  async pause(error: unknown, isUnsure: boolean): Promise<void> {
    if (error !== undefined && !(error instanceof StoreUnavailable)) throw error;
    this.assertTime(isUnsure, error);
    const longest = Math.min(longestPauseMs, 10 * 2 ** this.#pauses++);
    // Of different length, so that hubs that meet do not meet again.
    const share = (this.#runtime.bytes(1)[0] ?? 0) / 256;
    await new Promise<void>((resolve) => this.#runtime.after(longest * (0.5 + share / 2), resolve));
  }

  /** @throws BridgeError `cluster_unavailable` if the time is over. */
  assertTime(isUnsure = false, cause?: unknown): void {
    if (this.#runtime.steady() - this.#since > this.#timeoutMs) throw unavailable(isUnsure, cause);
  }
}

function oldState(): BridgeError {
  return new BridgeError('bad_grant', 'An old state of this grant was put back in the store of the cluster. It opens nothing.');
}

function unavailable(isUnsure: boolean, cause?: unknown): BridgeError {
  const outcome = isUnsure ? 'Whether the grant was changed is unknown.' : 'The grant was not changed.';
  return new BridgeError(
    'cluster_unavailable',
    `The store of the cluster, at NATS, did not answer in time. ${outcome} Try again once "notebridge status" says that this hub is joined.`,
    {
      data: { outcome: isUnsure ? 'unknown' : 'not_changed', retry_after_s: 5 },
      cause,
    },
  );
}
