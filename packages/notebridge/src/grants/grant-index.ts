import type { Runtime } from '@notebridge/protocol/util/runtime';
import { type Grant, type LiveGrant, toLive } from './grant.js';
import type { GrantListener } from './grant-records.js';

/** A grant that this process knows, with the ends of its tokens. */
export interface KnownGrant {
  readonly grant: LiveGrant;
  readonly end: Deadline;
  /** The end of the token before, after a renewal. */
  readonly previousEnd: Deadline | undefined;
}

/** The grants that this process knows, ready to be asked, and whether their time is over. */
export class GrantIndex implements GrantListener {
  readonly #clocks: Clocks;
  readonly #byHash = new Map<string, KnownGrant>();
  readonly #byId = new Map<string, KnownGrant>();

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  replaceAll(grants: readonly Grant[]): void {
    const ids = new Set(grants.map(({ id }) => id));
    for (const id of [...this.#byId.keys()]) if (!ids.has(id)) this.drop(id);
    for (const grant of grants) this.put(grant);
  }

  put(grant: Grant): void {
    const { id, hash, previous, expiresAt } = grant;
    const before = this.#byId.get(id);
    const old = before?.grant;
    // Terms never change, and patterns cost the most.
    const isSame = old !== undefined && JSON.stringify(old.allow) === JSON.stringify(grant.allow) && old.door === grant.door;
    const known: KnownGrant = {
      grant: isSame ? { ...grant, allowList: old.allowList } : toLive(grant),
      end: this.#endAt(expiresAt, before?.end),
      previousEnd: previous && this.#endAt(previous.expiresAt, before?.previousEnd),
    };
    if (old !== undefined) this.#forgetTokens(old);
    this.#byId.set(id, known);
    this.#byHash.set(hash, known);
    if (previous !== undefined) this.#byHash.set(previous.hash, known);
    // Each is looked at once, so that its time begins to run.
    known.end.isOver();
    known.previousEnd?.isOver();
  }

  drop(id: string): void {
    const { grant } = this.#byId.get(id) ?? {};
    if (grant === undefined) return;
    this.#byId.delete(id);
    this.#forgetTokens(grant);
  }

  /** In the order in which they came. */
  all(): Iterable<KnownGrant> {
    return this.#byId.values();
  }

  ofId(id: string): KnownGrant | undefined {
    return this.#byId.get(id);
  }

  /** The grant that has or had a token of this digest. */
  ofHash(hash: string): KnownGrant | undefined {
    return this.#byHash.get(hash);
  }

  /** Whether the time of a grant is over, as its records have it: it may be renewed there, and not be known so yet. */
  isExpired({ id, expiresAt }: Grant): boolean {
    return this.#endAt(expiresAt, this.#byId.get(id)?.end).isOver();
  }

  #forgetTokens({ hash, previous }: Grant): void {
    this.#byHash.delete(hash);
    if (previous !== undefined) this.#byHash.delete(previous.hash);
  }

  #endAt(at: number, known: Deadline | undefined): Deadline {
    return known?.at === at ? known : new Deadline(at, this.#clocks);
  }
}

/** The two clocks of a process: one that people and other machines may set, and one that may stand still while the machine sleeps. */
export type Clocks = Pick<Runtime, 'now' | 'steady'>;

/**
 * Whether a moment of the clock has come. The clock may be set back, which must not extend a deadline: it has also come when as much time
 * has passed as was left when it was first asked for.
 */
export class Deadline {
  readonly at: number;
  readonly #clocks: Clocks;
  /** The end by the steady clock. */
  #end: number | undefined;

  constructor(at: number, clocks: Clocks) {
    this.at = at;
    this.#clocks = clocks;
  }

  isOver(): boolean {
    const leftMs = this.at - this.#clocks.now();
    if (leftMs <= 0) return true;
    const now = this.#clocks.steady();
    this.#end ??= now + leftMs;
    return this.#end <= now;
  }
}
