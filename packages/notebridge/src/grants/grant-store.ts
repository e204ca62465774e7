import { BridgeError } from '@notebridge/protocol/core/errors';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { type Runtime, systemRuntime } from '@notebridge/protocol/util/runtime';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { createSecret, hashSecret, isSecret } from '../identity/secret.js';
import type { GrantChange } from './audit-line.js';
import { CallLeases } from './call-leases.js';
import { type EndOfGrant, ended } from './ended-grants.js';
import { createGrant, type Grant, type GrantTerms, type GrantView, type LiveGrant, parseTtl, viewOf } from './grant.js';
import { GrantIndex, type KnownGrant } from './grant-index.js';
import type { GrantListener, GrantRecords } from './grant-records.js';
import { GrantsFile } from './grants-file.js';
import type { SharedGrants, SharedGrantsOptions } from './shared-grants.js';

export interface GrantStoreOptions {
  /** Where `grants.json` stands. Made with mode 0700 if absent. */
  dir: string;
  logger?: Logger;
  /** Milliseconds since the epoch. Default: the clock. */
  now?: () => number;
  /** Milliseconds of a clock that is never set. Default: `performance.now`. */
  steady?: () => number;
}

/** A grant that was just issued. The token is returned once and stored nowhere. */
export type IssuedGrant = GrantView & { token: string };

/** Tokens whose digest is kept at hand, in memory only. */
const maxHashes = 1000;
/** How long the token before still opens after a renewal, milliseconds. */
const overlapMs = 60_000;

/**
 * The grants of this user. They are kept in one file that several processes share: what one issues opens at once in the others, and
 * what one revokes ends there within a quarter of a second, with the next call. Or in the store of a cluster, where all that goes from hub to
 * hub, within a second.
 */
export class GrantStore {
  readonly #index: GrantIndex;
  readonly #records: GrantRecords;
  readonly #leases: CallLeases;
  readonly #runtime: Runtime;
  readonly #hashes = new Map<string, string>();
  readonly #changes = new Listeners<GrantChange>();
  #isClosed = false;

  private constructor(open: (listener: GrantListener) => GrantRecords, { runtime, logger }: { runtime: Runtime; logger: Logger }) {
    this.#runtime = runtime;
    this.#index = new GrantIndex(runtime);
    this.#records = open(this.#index);
    this.#leases = new CallLeases({ records: this.#records, runtime, logger });
  }

  /** Rejects with `write_failed` if the folder or file is not private, or the file is broken. */
  static async open({ dir, logger = silentLogger, ...clocks }: GrantStoreOptions): Promise<GrantStore> {
    const { now = systemRuntime.now, steady = systemRuntime.steady } = clocks;
    const runtime = { ...systemRuntime, now, steady };
    return new GrantStore((index) => new GrantsFile({ dir, logger, uid: ownUserId(), now }, index), { runtime, logger });
  }

  /** The grants of a cluster. Without its store it opens as well, and accepts no grant until that is there. */
  static async openShared(options: SharedGrantsOptions): Promise<GrantStore> {
    const { SharedGrants: Records } = await import('./shared-grants.js');
    let records: SharedGrants | undefined;
    const store = GrantStore.over((index) => {
      records = new Records(options, index);
      return records;
    }, options);
    await records?.start();
    return store;
  }

  /** Grants that are kept where the caller says. */
  static over(open: (listener: GrantListener) => GrantRecords, options: { runtime: Runtime; logger: Logger }): GrantStore {
    return new GrantStore(open, options);
  }

  /** Called with each grant that is issued, renewed or revoked here; elsewhere, who does it records it. Returns the unsubscribe function. */
  onChange(listener: (change: GrantChange) => void): () => void {
    return this.#changes.add(listener);
  }

  /** Rejects with `bad_usage` naming the term that is wrong, `limit_reached` above 1000 live grants (10,000 in a cluster), or `write_failed`. */
  async issue(terms: GrantTerms = {}): Promise<IssuedGrant> {
    const issued = await this.#add(terms, this.#newId());
    if (issued === undefined) throw new BridgeError('internal', 'Two grants have got the same id.');
    return issued;
  }

  /** As `issue`, under an id that was made of who holds it. Undefined if there is a grant of that id: another hub was faster. */
  issueAs(id: string, terms: GrantTerms): Promise<IssuedGrant | undefined> {
    return this.#add(terms, id);
  }

  async #add(terms: GrantTerms, id: string): Promise<IssuedGrant | undefined> {
    this.#assertOpen();
    const token = createSecret('nbg_');
    const grant = { ...createGrant(terms, { hash: hashSecret(token), now: this.#now() }), id };
    const isAdded = await this.#records.add(grant, () => this.#assertRoom());
    if (!isAdded) return undefined;
    this.#tell('grant_issued', grant);
    return { token, ...viewOf(grant) };
  }

  /**
   * A new token for a grant, which lives `ttlMs` from now; the token before still opens for a minute, while it lived that long anyway.
   * Everything else of the grant stays. One that has expired may be renewed for as long as it is known, an hour at least: the machine may
   * have slept or its clock been set. Rejects with `bad_grant` if it was revoked.
   */
  async renew(id: string, ttlMs?: number): Promise<IssuedGrant> {
    this.#assertOpen();
    const lifeMs = parseTtl(ttlMs);
    const token = createSecret('nbg_');
    const renewed = await this.#records.change(id, (grant) => {
      const now = this.#now();
      if (grant === undefined || grant.revokedAt !== undefined) throw ended(id, grant === undefined ? 'unknown' : 'revoked');
      grant.previous = { hash: grant.hash, expiresAt: Math.min(grant.expiresAt, now + overlapMs) };
      grant.hash = hashSecret(token);
      grant.expiresAt = now + lifeMs;
      return { ...grant };
    });
    this.#tell('grant_renewed', renewed);
    return { token, ...viewOf(renewed) };
  }

  /** True if all hubs of a cluster have these grants. */
  get isShared(): boolean {
    return this.#records.isShared;
  }

  /** False: what the cluster told last is so old that no grant opens anything. */
  get isCurrent(): boolean {
    return this.#records.isCurrent();
  }

  /** The live grants, oldest first. */
  list(): GrantView[] {
    this.#records.refresh('now');
    const live = this.#known().filter((known) => endOf(known) === undefined);
    return live.map(({ grant: { allowList: _, ...grant } }) => ({ ...viewOf(grant), used: this.#leases.usedOf(grant) }));
  }

  /** The grants that one holder was given, oldest first, also those that have ended, as long as they are known: a month. */
  ofHolder(holder: string): Grant[] {
    this.#records.refresh('now');
    return this.#known().flatMap(({ grant }) => (grant.holder === holder ? [grant] : []));
  }

  /**
   * Ends a grant at once, and for good: one that has expired could be renewed, by who keeps its token in a file. False if there is none of that
   * id that could be. `isReplaced`: its holder has another one, and is not kept out.
   */
  async revoke(id: string, { isReplaced = false } = {}): Promise<boolean> {
    this.#assertOpen();
    const revoked = await this.#records.change(id, (grant) => {
      if (grant === undefined || grant.revokedAt !== undefined) return undefined;
      if (isReplaced && this.#index.isExpired(grant)) return undefined;
      grant.revokedAt = this.#now();
      if (isReplaced) grant.holder = undefined;
      return { ...grant };
    });
    if (revoked !== undefined) this.#tell('grant_revoked', revoked);
    return revoked !== undefined;
  }

  #tell(event: GrantChange['event'], grant: Grant): void {
    this.#changes.emit({ event, grant, changedAt: this.#now() });
  }

  /** The grant that a token opens, or why it opens none. Looked up by its digest, so timing reveals nothing of any token. */
  find(token: string): LiveGrant | EndOfGrant {
    const hash = this.#hashes.get(token) ?? this.#hashOf(token);
    if (hash === undefined) return 'unknown';
    this.#records.refresh('soon');
    let known = this.#index.ofHash(hash);
    // It may have been issued in this moment.
    if (known === undefined && this.#records.refresh('now')) known = this.#index.ofHash(hash);
    return this.#look(known, hash);
  }

  /** As `find`, for a token that was found to be unknown: another hub may have issued it in this moment. Undefined: none may have. */
  findLater(token: string): Promise<LiveGrant | EndOfGrant> | undefined {
    if (!isSecret(token, 'nbg_')) return undefined;
    const hash = hashSecret(token);
    return this.#records
      .untilTold(() => this.#index.ofHash(hash) !== undefined)
      ?.then((isTold) => {
        const found = this.find(token);
        // It may have been issued, and this hub does not hear of it in time.
        return found === 'unknown' && !isTold ? 'unverified' : found;
      });
  }

  /** The grant that a token is or was of; undefined for a token that is none, or ended long ago. */
  idOf(token: string): string | undefined {
    return isSecret(token, 'nbg_') ? this.#index.ofHash(hashSecret(token))?.grant.id : undefined;
  }

  /** Hashing costs more than all else that is asked of a token, and the same few come with every call. Undefined for what is no token of a grant. */
  #hashOf(token: string): string | undefined {
    if (!isSecret(token, 'nbg_')) return undefined;
    const hash = hashSecret(token);
    if (this.#hashes.size >= maxHashes) this.#hashes.clear();
    if (this.#index.ofHash(hash) !== undefined) this.#hashes.set(token, hash);
    return hash;
  }

  /** The grant of that id while it lives, else why it does not. */
  get(id: string): LiveGrant | EndOfGrant {
    this.#records.refresh('soon');
    return this.#look(this.#index.ofId(id));
  }

  /** `hash`: of the token that is asked about. */
  #look(known: KnownGrant | undefined, hash?: string): LiveGrant | EndOfGrant {
    const end = known && endOf(known, hash);
    if (end !== undefined) return end;
    if (!this.#records.isCurrent()) return 'unverified';
    return known?.grant ?? 'unknown';
  }

  /** Counts one call of a grant; false if its budget is used up. A promise only where the records have to be asked. */
  takeCall(grant: Grant): boolean | Promise<boolean> {
    return this.#leases.take(grant);
  }

  /** For a call that was counted and is not made. */
  putBackCall(grant: Grant): void {
    this.#leases.putBack(grant);
  }

  /** Writes down what was counted and gives back what was taken in advance. Closing twice is harmless. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.#leases.close();
    } finally {
      this.#records.close();
    }
  }

  /** Oldest first, whatever order they came in. */
  #known(): KnownGrant[] {
    return [...this.#index.all()].sort((a, b) => a.grant.createdAt - b.grant.createdAt);
  }

  #assertRoom(): void {
    const { maxLive } = this.#records;
    let live = 0;
    for (const known of this.#index.all()) if (endOf(known) === undefined) live++;
    if (live < maxLive) return;
    throw new BridgeError('limit_reached', `There are ${maxLive} live grants already. Revoke some, or wait until they expire.`);
  }

  /** A fraction would be no moment that a grant may have. */
  #now(): number {
    return Math.floor(this.#runtime.now());
  }

  #newId(): string {
    return `g_${this.#runtime.bytes(6).toString('hex')}`;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new BridgeError('closed', 'The store of grants is closed.');
  }
}

/** Why a grant opens nothing any more, by the token of that digest if one is given. */
function endOf({ grant, end, previousEnd }: KnownGrant, hash = grant.hash): 'expired' | 'revoked' | undefined {
  if (grant.revokedAt !== undefined) return 'revoked';
  if (end.isOver()) return 'expired';
  return hash === grant.hash || previousEnd?.isOver() === false ? undefined : 'expired';
}
