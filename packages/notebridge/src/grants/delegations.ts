import { randomBytes } from 'node:crypto';
import type { DelegatedRights, DelegationTerms } from '@notebridge/protocol/core/delegate-rights';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Principal } from '@notebridge/protocol/core/principal';
import { type AllowList, parseAllowList } from './allow-list.js';

/** What code may do on behalf of callers, beside what each of these may. */
export interface Delegation {
  readonly id: string;
  readonly label: string;
  readonly allow: readonly string[];
  readonly allowList: AllowList;
  readonly calls: number | undefined;
  readonly concurrent: number | undefined;
  used: number;
  /** The grants of the callers, delegated ones among them. The owner and anonymous callers add no bound. */
  readonly callers: Set<string>;
}

/** Executions at once, in one process, with a wide margin. */
const maxDelegations = 1000;
const everything = parseAllowList(['*:*']);

/** The grants that are known to this process alone: they are in no file, no token opens them, and they end with their execution. */
export class Delegations {
  readonly #byId = new Map<string, Delegation>();
  /** Unlike those of other processes in the same audit. */
  readonly #prefix = `${prefix}${randomBytes(4).toString('hex')}-`;
  #count = 0;

  /** @throws BridgeError `limit_reached` above 1000 at once, `bad_usage` for a pattern that is none. */
  delegate(callers: readonly Principal[], { label, allow, calls, concurrent }: DelegationTerms): DelegatedRights {
    if (this.#byId.size >= maxDelegations) {
      throw new BridgeError(
        'limit_reached',
        `Code runs on behalf of callers in ${maxDelegations} executions already. Wait until some end.`,
      );
    }
    const allowList = allow === undefined ? everything : parseAllowList(allow);
    const id = `${this.#prefix}${++this.#count}`;
    const grants = new Set(callers.flatMap(grantOf));
    this.#byId.set(id, { id, label, allow: allowList.patterns, allowList, calls, concurrent, used: 0, callers: grants });
    return {
      principal: { kind: 'grant', grantId: id },
      join: (caller) => {
        for (const grant of grantOf(caller)) if (grant !== id) grants.add(grant);
      },
      end: () => void this.#byId.delete(id),
    };
  }

  /** The grants of all on whose behalf code runs, also those that have ended since; none for the owner's code, and for grants of the file. */
  behind(id: string): string[] {
    const seen = new Set([id]);
    // A set is gone through to its end, also while it grows.
    for (const each of seen) for (const caller of this.#byId.get(each)?.callers ?? []) seen.add(caller);
    return [...seen].filter((each) => !isDelegated(each) && each !== id).sort();
  }

  /** Undefined for one that has ended, and for grants of the file. */
  get(id: string): Delegation | undefined {
    return this.#byId.get(id);
  }
}

const prefix = 'd_';

/** True for what is or was a delegated grant; those of the file have other ids. */
export function isDelegated(grantId: string): boolean {
  return grantId.startsWith(prefix);
}

function grantOf(principal: Principal): string[] {
  return principal.kind === 'grant' ? [principal.grantId] : [];
}
