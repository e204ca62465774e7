import type { Principal } from './principal.js';

/** What code may do that runs on behalf of callers: never more than each of them may. */
export interface DelegatedRights {
  /** What its calls are made as: a grant that this process alone knows, and that no token opens. */
  readonly principal: Principal;
  /** From now on the rights are those that this caller has as well. Joining twice is harmless. */
  join(caller: Principal): void;
  /** From now on every call is refused. Ending twice is harmless. */
  end(): void;
}

/** Terms besides the rights of the callers. */
export interface DelegationTerms {
  /** For the audit: what it is for. */
  label: string;
  /** Patterns `server:tool`. Default: whatever the callers may call. */
  allow?: readonly string[] | undefined;
  /** Calls until it ends. Default: as many as the callers have. */
  calls?: number | undefined;
  /** Calls under way at once. Default: as many as the callers may have. */
  concurrent?: number | undefined;
}

/** Gives code the rights that all callers have, and the terms allow. What a caller loses, the code loses. */
export type DelegateRights = (callers: readonly Principal[], terms: DelegationTerms) => DelegatedRights;
