import type { JsonObject } from '@notebridge/kit/json';
import type { Claims, Membership } from '../../cluster/cluster-parts.js';
import type { Runtime } from '../../util/runtime.js';
import { pageResources, parsePageRecord } from './page-records.js';

const tidyMs = 600_000;
/** Nobody has had it for so long, as this hub has seen itself. Milliseconds. */
const unownedMs = 3_600_000;
/** And, if it had a page, it was written so long ago, by the clock of whoever wrote it: one that is minutes wrong does no harm. Milliseconds. */
const oldMs = 24 * 3_600_000;

/** Forgets the slots of pages that do not come back: each hub that was killed leaves some. */
export class PageTidy {
  readonly #claims: Claims;
  readonly #membership: Membership;
  readonly #runtime: Runtime;
  /** Since when each is nobody's. */
  readonly #unowned = new Map<string, number>();
  #stop: (() => void) | undefined;

  constructor({ claims, membership, runtime }: { claims: Claims; membership: Membership; runtime: Runtime }) {
    this.#claims = claims;
    this.#membership = membership;
    this.#runtime = runtime;
  }

  start(): void {
    this.#stop = this.#runtime.after(tidyMs, () => {
      this.start();
      void this.tidy();
    });
  }

  close(): void {
    this.#stop?.();
  }

  /** Never rejects. */
  async tidy(): Promise<void> {
    const steady = this.#runtime.steady();
    const unowned = this.#claims.records(pageResources).filter(({ resource }) => this.#claims.ownerOf(resource) === undefined);
    const resources = new Set(unowned.map(({ resource }) => resource));
    for (const resource of this.#unowned.keys()) if (!resources.has(resource)) this.#unowned.delete(resource);
    for (const { resource, about } of unowned) {
      const since = this.#unowned.get(resource);
      if (since === undefined) this.#unowned.set(resource, steady);
      else if (steady - since >= unownedMs && this.#isOld(about)) await this.#forget(resource);
    }
  }

  #isOld(about: JsonObject): boolean {
    const record = parsePageRecord(about);
    return record?.hadPage !== true || this.#runtime.now() - record.at >= oldMs;
  }

  async #forget(resource: string): Promise<void> {
    // Each takes a while: of the next ones, others may have been forgotten, or their pages may have come back.
    if (!this.#membership.isHeld() || this.#claims.recordOf(resource) === undefined) return;
    let isNew = false;
    const about = (before: JsonObject): JsonObject => {
      isNew = true;
      return before;
    };
    const claim = await this.#claims.take(resource, about).catch(() => undefined);
    if (isNew) await claim?.release({ forget: true });
  }
}
