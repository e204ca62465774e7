import type { ClusterParts } from '@notebridge/cluster/cluster-parts';
import type { Slots } from '@notebridge/protocol/util/slots';
import type { HeldPage } from './held-page.js';
import { pageResources } from './page-records.js';

/** What could not be written is tried again. Milliseconds. */
const troubleMs = 2500;

export interface PageClaimerOptions extends Pick<ClusterParts, 'claims' | 'membership' | 'runtime' | 'logger'> {
  /** How many are claimed at the same time. */
  slots: Slots;
  /** The pages that are here. */
  held: ReadonlyMap<string, HeldPage>;
  /** Calls when one has been let go of. */
  drop: (held: HeldPage) => void;
}

/** Sees to it that what this hub has stands in the store, as far as the cluster lets it: also after NATS, or the lease of this hub, was away. */
export class PageClaimer {
  readonly #options: PageClaimerOptions;
  readonly #claiming = new Set<string>();
  #stopTrouble: (() => void) | undefined;
  #isClosed = false;

  constructor(options: PageClaimerOptions) {
    this.#options = options;
  }

  retrySoon(): void {
    if (this.#isClosed) return;
    this.#stopTrouble ??= this.#options.runtime.after(troubleMs, () => {
      this.#stopTrouble = undefined;
      this.catchUp();
    });
  }

  /** Claims and writes what is not. */
  catchUp(): void {
    const { membership, held: all, slots } = this.#options;
    if (this.#isClosed || !membership.isHeld()) return;
    for (const held of all.values()) {
      if (!held.isBehind || this.#claiming.has(held.id)) continue;
      this.#claiming.add(held.id);
      const written = slots.run(async () => {
        if (held.isClaimed) await held.save();
        else await this.#claim(held);
      });
      void written.catch(() => this.retrySoon()).finally(() => this.#claiming.delete(held.id));
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTrouble?.();
  }

  async #claim(held: HeldPage): Promise<void> {
    const { claims, logger, drop } = this.#options;
    const resource = pageResources + held.id;
    const last = claims.recordOf(resource);
    // Another hub has had it meanwhile, and knows more of it; but a page that is here stays here.
    const isOurs = last === undefined || last.epoch === held.epoch || held.isConnected;
    const record = isOurs ? await held.record() : {};
    const claim = isOurs ? await claims.take(resource, record) : undefined;
    if (claim !== undefined) {
      // Meanwhile another hub has asked for it, and was told that it may have it.
      if (held.isGone) return claim.release();
      held.attach(claim);
      held.noteWritten(record);
      await held.save();
      return;
    }
    // An earlier life of this hub has it still, as others see it: it is over in a moment.
    if (isOurs && claims.ownerOf(resource) === undefined) return this.retrySoon();
    logger.info('A page went to another hub while this one was not in its cluster.', { page: held.id });
    await held.leave();
    drop(held);
  }
}
