import { hash } from 'node:crypto';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Grant, GrantTerms } from './grant.js';
import type { GrantStore, IssuedGrant } from './grant-store.js';

/** What an identity that others vouch for is given. */
export type IdentityTerms = GrantTerms & Required<Pick<GrantTerms, 'label' | 'holder' | 'door' | 'ttlMs'>> & { holder: string };

/** So long a holder is kept out, whatever token the issuer gives it meanwhile: clients fetch a new one by themselves. Milliseconds. */
const keptOutMs = 60 * 60_000;

/** One grant for each identity: one that comes again has it renewed, also after it had ended, and its budget stays as it was. */
export class IdentityGrants {
  readonly #store: GrantStore;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(store: GrantStore) {
    this.#store = store;
  }

  /**
   * One after the other: two that come at once must not have two grants. `issuedAtMs`: when the issuer signed the token, since the epoch; 0 if
   * it does not say. Rejects with `bad_grant` if a person has revoked what the holder of such a token had, or as `GrantStore.issue` does.
   */
  give(terms: IdentityTerms, issuedAtMs: number): Promise<IssuedGrant> {
    const given = this.#queue.then(() => this.#give(terms, issuedAtMs));
    this.#queue = given.catch(() => {});
    return given;
  }

  async #give(terms: IdentityTerms, issuedAtMs: number): Promise<IssuedGrant> {
    const known = this.#store.ofHolder(terms.holder);
    for (const { id, revokedAt } of known) if (revokedAt !== undefined && issuedAtMs < revokedAt + keptOutMs) throw revoked(id);
    const held = known.filter(({ revokedAt }) => revokedAt === undefined);
    const same = held.findLast((grant) => isOf(grant, terms));
    // The rule was changed since: what it allowed before has ended.
    for (const old of held) if (old !== same) await this.#store.revoke(old.id, { isReplaced: true });
    if (same !== undefined) return this.#store.renew(same.id, terms.ttlMs);
    const id = idOf(terms, known.at(-1));
    return (await this.#store.issueAs(id, terms)) ?? this.#store.renew(id, terms.ttlMs);
  }
}

/**
 * Made of the holder, what it is given, and what it had last: hubs that are asked at the same moment come to the same id, and only one of them
 * issues it.
 */
function idOf({ holder, allow, readOnly, calls, perMinute, concurrent, door }: IdentityTerms, last: Grant | undefined): string {
  const named = [holder, allow, readOnly, calls, perMinute, concurrent, door, last?.id].map((part) => part ?? null);
  return `g_${hash('sha256', JSON.stringify(named), 'hex').slice(0, 12)}`;
}

function isOf(grant: Grant, { allow, readOnly, calls, perMinute, concurrent, door }: GrantTerms): boolean {
  const limits = grant.calls === calls && grant.perMinute === perMinute && grant.concurrent === concurrent;
  return limits && grant.door === door && grant.readOnly === readOnly && JSON.stringify(grant.allow) === JSON.stringify(allow);
}

function revoked(id: string): BridgeError {
  const message = 'A person has revoked what the holder of this token was allowed. A token of an hour later may open it again.';
  return new BridgeError('bad_grant', message, { data: { reason: 'revoked', grant_id: id } });
}
