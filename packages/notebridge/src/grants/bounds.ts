import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import { TokenBucket } from '@notebridge/protocol/util/token-bucket';
import type { AllowList } from './allow-list.js';
import { type Delegation, type Delegations, isDelegated } from './delegations.js';
import { ended } from './ended-grants.js';
import type { LiveGrant } from './grant.js';
import type { GrantStore } from './grant-store.js';

/** What admission asks of the grants that are kept. */
export type GrantSource = Pick<GrantStore, 'get' | 'takeCall' | 'putBackCall'>;

/** One grant that a call is held to, and what this process knows of it besides its terms. */
export interface Bound {
  readonly id: string;
  readonly allow: readonly string[];
  readonly allowList: AllowList;
  readonly readOnly: boolean;
  readonly calls: number | undefined;
  readonly perMinute: number | undefined;
  readonly concurrent: number | undefined;
  /** Calls under way. */
  running: number;
  readonly bucket: TokenBucket | undefined;
  /** Which tools its patterns allow, as far as they were asked for. */
  readonly decisions: Map<string, boolean>;
  /** The grant as the file has it; undefined for a delegated one. */
  grant: LiveGrant | undefined;
  readonly delegation: Delegation | undefined;
}

const maxBounds = 2000;
const maxDecisions = 2000;

/** Finds the grants that a principal is held to: its own, and of code that runs on behalf of callers those of all of them. */
export class Bounds {
  /** Undefined: no grant is known yet. */
  store: GrantSource | undefined;
  readonly #delegations: Delegations | undefined;
  readonly #now: () => number;
  readonly #known = new Map<string, Bound>();

  constructor(store: GrantSource | undefined, delegations: Delegations | undefined, now: () => number) {
    this.store = store;
    this.#delegations = delegations;
    this.#now = now;
  }

  /** All must allow a call. If one of them has ended, its error. Asked at each call, so that what a caller loses, its code loses. */
  of(grantId: string): readonly Bound[] | BridgeError {
    if (!isDelegated(grantId)) {
      const found = this.#findGrant(grantId);
      return found instanceof BridgeError ? found : [found];
    }
    // A set, since one grant may stand behind several callers: it is charged once, and delegations that name each other come to an end.
    const all = new Map<string, Bound>();
    const waiting = [grantId];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (all.has(id)) continue;
      const found = isDelegated(id) ? this.#findDelegated(id) : this.#findGrant(id);
      if (found instanceof BridgeError) return found;
      all.set(id, found);
      if (found.delegation !== undefined) appendAll(waiting, found.delegation.callers);
    }
    return [...all.values()];
  }

  /** Counts one call in the budget of a bound; false if that is used up. A promise only where the records have to be asked. */
  takeCall({ grant, delegation }: Bound): boolean | Promise<boolean> {
    if (grant !== undefined) return this.store?.takeCall(grant) ?? false;
    if (delegation === undefined || (delegation.calls !== undefined && delegation.used >= delegation.calls)) return false;
    delegation.used++;
    return true;
  }

  /** For a call that was counted and is not made. */
  putBackCall({ grant, delegation }: Bound): void {
    if (grant !== undefined) this.store?.putBackCall(grant);
    else if (delegation !== undefined) delegation.used--;
  }

  #findDelegated(id: string): Bound | BridgeError {
    const delegation = this.#delegations?.get(id);
    if (delegation !== undefined) return this.#known.get(id) ?? this.#keep(toBound(delegation));
    this.#known.delete(id);
    return new BridgeError('bad_grant', 'The code whose call this is has ended, and its rights with it. Nothing was called.', {
      data: { reason: 'ended', grant_id: id },
    });
  }

  #findGrant(id: string): Bound | BridgeError {
    const grant = this.store?.get(id) ?? 'unknown';
    if (typeof grant === 'string') {
      // What runs under it is still counted, should it turn out that it holds.
      if (grant !== 'unverified') this.#known.delete(id);
      return ended(id, grant);
    }
    const bound = this.#known.get(id) ?? this.#keep(toBound(grant, this.#now()));
    bound.grant = grant;
    return bound;
  }

  #keep(bound: Bound): Bound {
    if (this.#known.size >= maxBounds) this.#forgetEnded();
    this.#known.set(bound.id, bound);
    return bound;
  }

  #forgetEnded(): void {
    for (const id of this.#known.keys()) {
      const grant = isDelegated(id) ? (this.#delegations?.get(id) ?? 'unknown') : (this.store?.get(id) ?? 'unknown');
      if (typeof grant === 'string' && grant !== 'unverified') this.#known.delete(id);
    }
  }
}

function toBound(source: LiveGrant | Delegation, now = 0): Bound {
  const { id, allow, allowList, calls, concurrent } = source;
  const common = { id, allow, allowList, calls, concurrent, running: 0, decisions: new Map<string, boolean>() };
  if ('callers' in source) {
    return { ...common, readOnly: false, perMinute: undefined, bucket: undefined, grant: undefined, delegation: source };
  }
  const { readOnly, perMinute } = source;
  const bucket = perMinute === undefined ? undefined : new TokenBucket({ capacity: perMinute, perSecond: perMinute / 60 }, now);
  return { ...common, readOnly, perMinute, bucket, grant: source, delegation: undefined };
}

/** True if the patterns of the grant allow the tool. */
export function allows({ allowList, decisions }: Bound, address: ToolAddress): boolean {
  if (allowList.allowsAll) return true;
  const key = `${address.server}\n${address.tool}`;
  const known = decisions.get(key);
  if (known !== undefined) return known;
  // Names come from the caller: without a bound they would fill the memory.
  if (decisions.size >= maxDecisions) decisions.clear();
  const isAllowed = allowList.allows(address);
  decisions.set(key, isAllowed);
  return isAllowed;
}

/** True if the grant allows all tools of the server; undefined: of every server. */
export function allowsWhole({ allowList }: Bound, server: string | undefined): boolean {
  return allowList.allowsAll || (server !== undefined && allowList.allowsWhole(server));
}

/** The right to make one call. It is given back when the call has ended, however it ended. */
export interface Ticket {
  /** Releasing twice is harmless. */
  release(): void;
  /** Releases a call that is not made, and takes back what it was charged. Harmless once released. */
  undo(): void;
}

/**
 * Charges a call to every grant that it is held to: calls under way, rate, budget. What one of them refuses costs none.
 *
 * @throws BridgeError `budget_exhausted`. A promise only where a budget has to be asked from the file.
 */
export function charge(bounds: readonly Bound[], all: Bounds, now: number): Ticket | Promise<Ticket> {
  const begun: Bound[] = [];
  const counted: Bound[] = [];
  let isReleased = false;
  const release = (): void => {
    if (isReleased) return;
    isReleased = true;
    for (const bound of begun) bound.running--;
  };
  const undo = (): void => {
    if (isReleased) return;
    release();
    for (const { bucket } of begun) bucket?.putBack();
    for (const bound of counted) all.putBackCall(bound);
  };
  const count = (bound: Bound, isTaken: boolean): void => {
    if (!isTaken) throw exhausted(bound, 'calls', `all of its ${bound.calls} calls are used`);
    counted.push(bound);
  };
  const countLater = async (first: Bound, taken: Promise<boolean>, rest: readonly Bound[]): Promise<Ticket> => {
    try {
      count(first, await taken);
      for (const bound of rest) count(bound, await all.takeCall(bound));
      return { release, undo };
    } catch (error) {
      undo();
      throw error;
    }
  };
  try {
    for (const bound of bounds) {
      begin(bound, now);
      begun.push(bound);
    }
    for (const [at, bound] of bounds.entries()) {
      const taken = all.takeCall(bound);
      if (typeof taken !== 'boolean') return countLater(bound, taken, bounds.slice(at + 1));
      count(bound, taken);
    }
    return { release, undo };
  } catch (error) {
    undo();
    throw error;
  }
}

/** Counts a call as under way, and in the rate. */
function begin(bound: Bound, now: number): void {
  const { concurrent, perMinute, bucket } = bound;
  if (concurrent !== undefined && bound.running >= concurrent)
    throw exhausted(bound, 'concurrent', `${concurrent} calls are under way, which is all it may have at once`);
  const waitMs = bucket?.take(now) ?? 0;
  if (waitMs > 0) {
    const seconds = Math.ceil(waitMs / 1000);
    throw exhausted(bound, 'perMinute', `${perMinute} calls per minute are used up; try again in ${seconds} s`, seconds);
  }
  bound.running++;
}

function exhausted({ id }: Bound, rule: string, why: string, seconds?: number): BridgeError {
  const next = rule === 'calls' ? ' Have a new grant issued.' : rule === 'concurrent' ? ' Wait until one has ended.' : '';
  const data = { rule, grant_id: id, ...(seconds === undefined ? {} : { retry_after_s: seconds }) };
  return new BridgeError('budget_exhausted', `Grant ${id}: ${why}.${next}`, { data });
}
