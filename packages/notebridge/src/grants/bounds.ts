import { appendAll } from '@notebridge/kit/long-lists';
import { BridgeError } from '../core/errors.js';
import type { ToolAddress } from '../core/tool-address.js';
import { TokenBucket } from '../util/token-bucket.js';
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
  readonly #store: GrantSource;
  readonly #delegations: Delegations | undefined;
  readonly #now: () => number;
  readonly #known = new Map<string, Bound>();

  constructor(store: GrantSource, delegations: Delegations | undefined, now: () => number) {
    this.#store = store;
    this.#delegations = delegations;
    this.#now = now;
  }

  /** All must allow a call. If one of them has ended, its error. Asked at each call, so that what a caller loses, its code loses. */
  of(grantId: string): readonly Bound[] | BridgeError {
    if (!isDelegated(grantId)) {
      const found = this.#find(grantId);
      return found instanceof BridgeError ? found : [found];
    }
    // A set, since one grant may stand behind several callers: it is charged once, and delegations that name each other come to an end.
    const all = new Map<string, Bound>();
    const waiting = [grantId];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (all.has(id)) continue;
      const found = this.#find(id);
      if (found instanceof BridgeError) return found;
      all.set(id, found);
      if (found.delegation !== undefined) appendAll(waiting, found.delegation.callers);
    }
    return [...all.values()];
  }

  /** Counts one call in the budget of a bound; false if that is used up. A promise only where the records have to be asked. */
  takeCall({ grant, delegation }: Bound): boolean | Promise<boolean> {
    if (grant !== undefined) return this.#store.takeCall(grant);
    if (delegation === undefined || (delegation.calls !== undefined && delegation.used >= delegation.calls)) return false;
    delegation.used++;
    return true;
  }

  /** For a call that was counted and is not made. */
  putBackCall({ grant, delegation }: Bound): void {
    if (grant !== undefined) this.#store.putBackCall(grant);
    else if (delegation !== undefined) delegation.used--;
  }

  #find(id: string): Bound | BridgeError {
    const known = this.#known.get(id);
    if (isDelegated(id)) {
      const delegation = this.#delegations?.get(id);
      if (delegation !== undefined) return known ?? this.#keep(toBound(delegation));
      this.#known.delete(id);
      return new BridgeError('bad_grant', 'The code whose call this is has ended, and its rights with it. Nothing was called.', {
        data: { reason: 'ended', grant_id: id },
      });
    }
    const grant = this.#store.get(id);
    if (typeof grant === 'string') {
      // What runs under it is still counted, should it turn out that it holds.
      if (grant !== 'unverified') this.#known.delete(id);
      return ended(id, grant);
    }
    const bound = known ?? this.#keep(toBound(grant, this.#now()));
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
      const grant = isDelegated(id) ? (this.#delegations?.get(id) ?? 'unknown') : this.#store.get(id);
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
