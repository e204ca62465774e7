import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import type { ClusterParts, Membership } from './cluster-parts.js';
import { type HubInventory, type InventoryQuestion, InventorySigner, inventoryAnswers, inventoryQuestions } from './inventory-messages.js';

/** Questions that were answered, the newest: one that was recorded and is sent again is not. */
const maxRemembered = 1024;
/**
 * So far the clock of who asks may be ahead. Who is, and asks more often than is remembered, keeps those out for so long whose clocks are not.
 * Milliseconds.
 */
const maxAheadMs = 10 * 60_000;

export interface InventoryDeskOptions extends Pick<ClusterParts, 'bus' | 'cluster' | 'key' | 'logger'> {
  membership: Pick<Membership, 'self' | 'isHeld'>;
  runtime: Pick<Runtime, 'now'>;
  collect: () => Promise<HubInventory>;
}

/** Says what this hub has for itself to who asks over the bus, and may be no hub: a command. At rest it costs nothing. */
export class InventoryDesk {
  readonly #options: InventoryDeskOptions;
  readonly #signer: InventorySigner;
  readonly #unsubscribe: () => void;
  /** By the mark of who asked: when that was. */
  readonly #answered = new Map<string, number>();
  /** Whatever was asked until then may have been answered and forgotten. */
  #forgottenUntil = Number.NEGATIVE_INFINITY;
  /** Who asks meanwhile gets the same. */
  #collecting: Promise<HubInventory> | undefined;

  constructor(options: InventoryDeskOptions) {
    const { bus, key, cluster } = options;
    this.#options = options;
    this.#signer = new InventorySigner(key, cluster);
    this.#unsubscribe = bus.subscribe(inventoryQuestions, (payload) => void this.#hear(payload));
  }

  /** Closing twice is harmless. */
  close(): void {
    this.#unsubscribe();
  }

  /** Never rejects. */
  async #hear(payload: Uint8Array): Promise<void> {
    const { bus, membership, logger } = this.#options;
    const question = this.#signer.parseQuestion(payload);
    if (question === undefined || !membership.isHeld() || !question.hubs.includes(membership.self.id)) return;
    if (!this.#isNew(question)) return;
    const { asker } = question;
    this.#remember(question);
    try {
      this.#collecting ??= this.#options.collect().finally(() => {
        this.#collecting = undefined;
      });
      const inventory = await this.#collecting;
      bus.publish(inventoryAnswers(asker), this.#signer.printAnswer(asker, membership.self.id, inventory));
    } catch (error) {
      logger.debug('What this hub has was not told to who asked.', { error: messageOf(error) });
    }
  }

  #isNew({ asker, at }: InventoryQuestion): boolean {
    return at > this.#forgottenUntil && at <= this.#options.runtime.now() + maxAheadMs && !this.#answered.has(asker);
  }

  #remember({ asker, at }: InventoryQuestion): void {
    this.#answered.set(asker, at);
    if (this.#answered.size <= maxRemembered) return;
    // By their clocks, and not as they came: a few that are ahead keep nobody out.
    const [oldest, askedAt] = [...this.#answered].reduce((first, each) => (each[1] < first[1] ? each : first));
    this.#answered.delete(oldest);
    this.#forgottenUntil = askedAt;
  }
}
