import type { JsonObject } from '@notebridge/protocol/json';
import type { Claim, Membership } from './cluster-parts.js';

export interface HeldClaimParts {
  resource: string;
  epoch: number;
  /** The id of this hub when it was taken. It is of no other life. */
  hub: string;
  /** Of the entry as this hub has written it last, as far as is known. */
  revision: number;
  membership: Membership;
  describe: (claim: HeldClaim, about: JsonObject) => Promise<void>;
  release: (claim: HeldClaim, isForgotten: boolean) => Promise<void>;
}

/** What this hub has taken, until it is lost or released. */
export class HeldClaim implements Claim {
  readonly resource: string;
  readonly epoch: number;
  readonly hub: string;
  revision: number;
  readonly #parts: HeldClaimParts;
  readonly #listeners = new Set<() => void>();
  #isOver = false;
  #released: Promise<void> | undefined;

  constructor(parts: HeldClaimParts) {
    this.#parts = parts;
    this.resource = parts.resource;
    this.epoch = parts.epoch;
    this.hub = parts.hub;
    this.revision = parts.revision;
  }

  isHeld(): boolean {
    return !this.#isOver && this.#parts.membership.isHeld() && this.#parts.membership.self.id === this.hub;
  }

  /** True once it was lost or released, and not while only the lease is in doubt. */
  get isOver(): boolean {
    return this.#isOver;
  }

  describe(about: JsonObject): Promise<void> {
    return this.#parts.describe(this, about);
  }

  onLost(listener: () => void): () => void {
    if (this.#isOver) listener();
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  release({ forget = false }: { forget?: boolean } = {}): Promise<void> {
    const wasOver = this.#isOver;
    // Before anything is written: from the write on another may have it.
    this.end();
    this.#released ??= wasOver ? Promise.resolve() : this.#parts.release(this, forget);
    return this.#released;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}
