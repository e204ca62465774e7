import type { Principal } from '@notebridge/protocol/core/principal';
import type { GrantStore } from '../../grants/grant-store.js';

export interface OwnGrantOptions {
  store: GrantStore;
  /** Called when one grant has ended for another, or for none. */
  onEnd: (principal: Principal) => void;
}

/** A notebook that is open longer gets another one: what a killed process leaves behind ends by itself. Milliseconds. */
const ttlMs = 24 * 60 * 60_000;

/** The grant of one notebook's code. It is held in this process alone: its token is given to no one, and dropped at once. */
export class OwnGrant {
  readonly #options: OwnGrantOptions;
  #id: string;
  #isAllowed = true;

  private constructor(options: OwnGrantOptions, id: string) {
    this.#options = options;
    this.#id = id;
  }

  /** Rejects with `limit_reached` or `write_failed`. */
  static async issue(options: OwnGrantOptions): Promise<OwnGrant> {
    return new OwnGrant(options, await issue(options));
  }

  get id(): string {
    return this.#id;
  }

  /** False if it was taken away, here or by `notebridge grant revoke`. */
  get isAllowed(): boolean {
    const end = this.#options.store.get(this.#id);
    if (end === 'revoked' || end === 'unknown') this.#isAllowed = false;
    return this.#isAllowed;
  }

  get principal(): Principal {
    return { kind: 'grant', grantId: this.#id };
  }

  /** Before a call: one that has only grown old is replaced. */
  async refresh(): Promise<void> {
    if (this.#isAllowed && this.#options.store.get(this.#id) === 'expired') await this.#replace();
  }

  async allow(): Promise<void> {
    if (this.isAllowed) return;
    await this.#replace();
    this.#isAllowed = true;
  }

  /** From now on calls are refused. Revoking twice is harmless. */
  async revoke(): Promise<void> {
    this.#isAllowed = false;
    await this.#options.store.revoke(this.#id);
    this.#options.onEnd(this.principal);
  }

  async #replace(): Promise<void> {
    const before = this.principal;
    this.#id = await issue(this.#options);
    this.#options.onEnd(before);
  }
}

/** For all servers that code may reach at all: that is for the config to say, by `expose`. */
async function issue({ store }: OwnGrantOptions): Promise<string> {
  const { id } = await store.issue({ allow: ['*:*'], door: 'tools', ttlMs, label: 'the built-in notebook' });
  return id;
}
