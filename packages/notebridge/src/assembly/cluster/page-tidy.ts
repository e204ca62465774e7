import type { ClusterParts } from '@notebridge/cluster/cluster-parts';
import type { JsonObject } from '@notebridge/protocol/json';
import { pageResources, parsePageRecord } from './page-records.js';

const tidyMs = 600_000;
/** Nobody has had it for so long, as this hub has seen itself. Milliseconds. */
const unownedMs = 3_600_000;
/** And, if it had a page, it was written so long ago, by the clock of whoever wrote it: one that is minutes wrong does no harm. Milliseconds. */
const oldMs = 24 * 3_600_000;

type TidyParts = Pick<ClusterParts, 'claims' | 'membership' | 'runtime'>;

/** Forgets the slots of pages that do not come back: each hub that was killed leaves some. */
export class PageTidy {
  readonly #parts: TidyParts;
  /** Since when each is nobody's. */
  readonly #unowned = new Map<string, number>();
  #stop: (() => void) | undefined;

  constructor(parts: TidyParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#stop = this.#parts.runtime.after(tidyMs, () => {
      this.start();
      void this.tidy();
    });
  }

  close(): void {
    this.#stop?.();
  }

  /** Never rejects. */
  async tidy(): Promise<void> {
    const { claims, runtime } = this.#parts;
    const steady = runtime.steady();
    const unowned = claims.records(pageResources).filter(({ resource }) => claims.ownerOf(resource) === undefined);
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
    return record?.hadPage !== true || this.#parts.runtime.now() - record.at >= oldMs;
  }

  async #forget(resource: string): Promise<void> {
    // Each takes a while: of the next ones, others may have been forgotten, or their pages may have come back.
    const { claims, membership } = this.#parts;
    if (!membership.isHeld() || claims.recordOf(resource) === undefined) return;
    let isNew = false;
    const about = (before: JsonObject): JsonObject => {
      isNew = true;
      return before;
    };
    const claim = await claims.take(resource, about).catch(() => undefined);
    if (isNew) await claim?.release({ forget: true });
  }
}
