import { type Logger, silentLogger } from '@notebridge/kit/logger';
import { BridgeError } from '../core/errors.js';
import { createSecret, hashSecret, isSecret } from '../identity/secret.js';
import { ownUserId } from '../processes/own-user.js';
import { quote } from '../util/quote.js';
import { CallLeases } from './call-leases.js';
import { Deadlines } from './deadlines.js';
import { createGrant, type Grant, type GrantTerms, type GrantView, type LiveGrant, parseTtl, toLive, viewOf } from './grant.js';
import { GrantsFile } from './grants-file.js';

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

/** Why a token opens nothing. */
export type EndOfGrant = 'unknown' | 'expired' | 'revoked';

const maxLive = 1000;
/** Tokens whose digest is kept at hand, in memory only. */
const maxHashes = 1000;
/** How long the token before still opens after a renewal, milliseconds. */
const overlapMs = 60_000;

/**
 * The grants of this user. They are kept in one file that several processes share: what one issues opens at once in the others, and
 * what one revokes ends there within a quarter of a second, with the next call.
 */
export class GrantStore {
  readonly #file: GrantsFile;
  readonly #leases: CallLeases;
  readonly #now: () => number;
  /** When the clock is set back, no token lives longer for it. */
  readonly #deadlines: Deadlines;
  #byHash = new Map<string, LiveGrant>();
  #byId = new Map<string, LiveGrant>();
  #indexed: readonly Grant[] = [];
  readonly #hashes = new Map<string, string>();
  #isClosed = false;

  private constructor({ dir, logger = silentLogger, now = Date.now, steady = () => performance.now() }: GrantStoreOptions) {
    this.#now = now;
    this.#deadlines = new Deadlines({ now, steady });
    this.#file = new GrantsFile({ dir, logger, uid: ownUserId() });
    this.#leases = new CallLeases({ change: (change) => this.#file.change(now(), change), logger });
    this.#index();
  }

  /** Rejects with `write_failed` if the folder or file is not private, or the file is broken. */
  static async open(options: GrantStoreOptions): Promise<GrantStore> {
    return new GrantStore(options);
  }

  /** Rejects with `bad_usage` naming the term that is wrong, `limit_reached` above 1000 live grants, or `write_failed`. */
  async issue(terms: GrantTerms = {}): Promise<IssuedGrant> {
    this.#assertOpen();
    const token = createSecret('nbg_');
    const grant = createGrant(terms, { hash: hashSecret(token), now: this.#now() });
    await this.#file.change(this.#now(), (grants) => {
      if (grants.filter((other) => this.#endOf(other) === undefined).length >= maxLive) {
        throw new BridgeError('limit_reached', `There are ${maxLive} live grants already. Revoke some, or wait until they expire.`);
      }
      grants.push(grant);
    });
    this.#index();
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
    const renewed = await this.#file.change(this.#now(), (grants) => {
      const grant = grants.find((candidate) => candidate.id === id);
      const now = this.#now();
      if (grant === undefined || grant.revokedAt !== undefined) throw ended(id, grant === undefined ? 'unknown' : 'revoked');
      grant.previous = { hash: grant.hash, expiresAt: Math.min(grant.expiresAt, now + overlapMs) };
      grant.hash = hashSecret(token);
      grant.expiresAt = now + lifeMs;
      return viewOf(grant);
    });
    this.#index();
    return { token, ...renewed };
  }

  /** The live grants, oldest first. */
  list(): GrantView[] {
    this.#refresh('now');
    const live = [...this.#byId.values()].filter((grant) => this.#endOf(grant) === undefined);
    return live.map(({ allowList: _, ...grant }) => ({ ...viewOf(grant), used: this.#leases.usedOf(grant) }));
  }

  /** The grants that one holder was given, also those that have ended, as long as they are known: a month. */
  ofHolder(holder: string): Grant[] {
    this.#refresh('now');
    return [...this.#byId.values()].filter((grant) => grant.holder === holder);
  }

  /** Ends a grant at once. False if there is no live one of that id. `isReplaced`: its holder has another one, and is not kept out. */
  async revoke(id: string, { isReplaced = false } = {}): Promise<boolean> {
    this.#assertOpen();
    const now = this.#now();
    const isRevoked = await this.#file.change(now, (grants) => {
      const grant = grants.find((candidate) => candidate.id === id && this.#endOf(candidate) === undefined);
      if (grant !== undefined) grant.revokedAt = now;
      if (grant !== undefined && isReplaced) grant.holder = undefined;
      return grant !== undefined;
    });
    this.#index();
    return isRevoked;
  }

  /** The grant that a token opens, or why it opens none. Looked up by its digest, so timing reveals nothing of any token. */
  find(token: string): LiveGrant | EndOfGrant {
    if (!isSecret(token, 'nbg_')) return 'unknown';
    this.#refresh();
    const hash = this.#hashOf(token);
    let grant = this.#byHash.get(hash);
    // It may have been issued in this moment.
    if (grant === undefined && this.#refresh('now')) grant = this.#byHash.get(hash);
    if (grant === undefined) return 'unknown';
    const end = this.#endOf(grant);
    if (end !== undefined) return end;
    const isOutlived = grant.hash !== hash && this.#deadlines.isOver(`${grant.id} previous`, grant.previous?.expiresAt ?? 0);
    return isOutlived ? 'expired' : grant;
  }

  /** The grant that a token is or was of; undefined for a token that is none, or ended long ago. */
  idOf(token: string): string | undefined {
    return isSecret(token, 'nbg_') ? this.#byHash.get(hashSecret(token))?.id : undefined;
  }

  /** Hashing costs more than all else that is asked of a token, and the same few come with every call. */
  #hashOf(token: string): string {
    const known = this.#hashes.get(token);
    if (known !== undefined) return known;
    const hash = hashSecret(token);
    if (this.#hashes.size >= maxHashes) this.#hashes.clear();
    if (this.#byHash.has(hash)) this.#hashes.set(token, hash);
    return hash;
  }

  /** The grant of that id while it lives, else why it does not. */
  get(id: string): LiveGrant | EndOfGrant {
    this.#refresh();
    const grant = this.#byId.get(id);
    return grant === undefined ? 'unknown' : (this.#endOf(grant) ?? grant);
  }

  /** Counts one call of a grant; false if its budget is used up. A promise only where the file has to be asked. */
  takeCall(grant: Grant): boolean | Promise<boolean> {
    const taken = this.#leases.take(grant);
    return typeof taken === 'boolean' ? taken : this.#indexAfter(taken);
  }

  /** For a call that was counted and is not made. */
  putBackCall(grant: Grant): void {
    this.#leases.putBack(grant);
  }

  /** Writes down what was counted and gives back what was taken in advance. Closing twice is harmless. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#leases.close();
  }

  async #indexAfter(taken: Promise<boolean>): Promise<boolean> {
    const isTaken = await taken;
    this.#index();
    return isTaken;
  }

  #refresh(when: 'soon' | 'now' = 'soon'): boolean {
    const isChanged = this.#file.refresh(when);
    this.#index();
    return isChanged;
  }

  /** Makes the maps anew if the file has changed since. */
  #index(): void {
    const { grants } = this.#file;
    if (grants === this.#indexed) return;
    this.#indexed = grants;
    this.#byHash = new Map();
    this.#byId = new Map();
    for (const grant of grants) {
      const live = toLive(grant);
      this.#byId.set(grant.id, live);
      this.#byHash.set(grant.hash, live);
      if (grant.previous !== undefined) this.#byHash.set(grant.previous.hash, live);
    }
    this.#deadlines.keepOnly(grants.flatMap(deadlinesOf));
    // Each is looked at once, so that its time begins to run.
    for (const deadline of grants.flatMap(deadlinesOf)) this.#deadlines.isOver(...deadline);
  }

  #endOf({ id, revokedAt, expiresAt }: Grant): EndOfGrant | undefined {
    if (revokedAt !== undefined) return 'revoked';
    return this.#deadlines.isOver(id, expiresAt) ? 'expired' : undefined;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new BridgeError('closed', 'The store of grants is closed.');
  }
}

function deadlinesOf({ id, expiresAt, previous }: Grant): [name: string, at: number][] {
  const own: [string, number] = [id, expiresAt];
  return previous === undefined ? [own] : [own, [`${id} previous`, previous.expiresAt]];
}

/** The error of a grant that opens nothing any more. */
export function ended(id: string, reason: EndOfGrant): BridgeError {
  const what = reason === 'unknown' ? 'does not exist' : reason === 'expired' ? 'has expired' : 'was revoked';
  return new BridgeError('bad_grant', `The grant ${quote(id)} ${what}. Issue a new one with \`notebridge grant\`.`, {
    data: { reason, grant_id: id },
  });
}
