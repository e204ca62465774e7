import type { GrantTerms, GrantView } from './grant.js';
import type { GrantStore, IssuedGrant } from './grant-store.js';

/** What an identity that others vouch for is given: its label is who it is, also after a restart of the hub. */
export type IdentityTerms = GrantTerms & Required<Pick<GrantTerms, 'label' | 'door' | 'ttlMs'>>;

/** One grant for each identity: one that comes again has it renewed, and its budget stays as it was. */
export class IdentityGrants {
  readonly #store: GrantStore;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(store: GrantStore) {
    this.#store = store;
  }

  /** One after the other: two that come at once must not have two grants. Rejects as `GrantStore.issue` does. */
  give(terms: IdentityTerms): Promise<IssuedGrant> {
    const given = this.#queue.then(() => this.#give(terms));
    this.#queue = given.catch(() => {});
    return given;
  }

  async #give(terms: IdentityTerms): Promise<IssuedGrant> {
    const held = this.#store.list().filter((grant) => grant.label === terms.label && grant.door === terms.door);
    const same = held.find((grant) => isOf(grant, terms));
    // The rule was changed since: what it allowed before has ended.
    for (const old of held) if (old !== same) await this.#store.revoke(old.id);
    return same === undefined ? this.#store.issue(terms) : this.#store.renew(same.id, terms.ttlMs);
  }
}

function isOf(grant: GrantView, { allow, readOnly, calls, perMinute, concurrent }: GrantTerms): boolean {
  const limits = grant.calls === calls && grant.perMinute === perMinute && grant.concurrent === concurrent;
  return limits && grant.readOnly === readOnly && JSON.stringify(grant.allow) === JSON.stringify(allow);
}
