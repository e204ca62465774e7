import type { BridgeError } from '@notebridge/protocol/core/errors';
import { foreverLive, type WhileLive } from '@notebridge/protocol/core/while-live';

/** How often the grants of what runs are looked up: what another process or hub has ended, or the clock. Milliseconds. */
const lookEveryMs = 100;

interface Living {
  grantId: string;
  onEnd: (why: BridgeError) => void;
}

/**
 * Ends what runs for a grant once that has ended. Grants are looked up again and again, in place of being told: a file, the store of a cluster,
 * the clock and the callers of code all end them, each in its own way. Nothing is looked up where nothing runs.
 */
export class LiveGrants {
  readonly #endOf: (grantId: string) => BridgeError | undefined;
  readonly #living = new Set<Living>();
  #timer: NodeJS.Timeout | undefined;

  /** `endOf`: why nothing may be called with a grant any more. */
  constructor(endOf: (grantId: string) => BridgeError | undefined) {
    this.#endOf = endOf;
  }

  readonly whileLive: WhileLive = (principal, onEnd) => {
    if (principal.kind !== 'grant') return foreverLive(principal, onEnd);
    const living = { grantId: principal.grantId, onEnd };
    this.#living.add(living);
    this.#timer ??= setInterval(() => this.#look(), lookEveryMs).unref();
    return () => void this.#living.delete(living);
  };

  /** Closing twice is harmless. */
  close(): void {
    this.#living.clear();
    this.#look();
  }

  #look(): void {
    const ends = new Map<string, BridgeError | undefined>();
    // The newest first: calls before the session that they belong to, whose end would leave some of them going on.
    for (const living of [...this.#living].reverse()) {
      const { grantId, onEnd } = living;
      if (!ends.has(grantId)) ends.set(grantId, this.#endOf(grantId));
      const why = ends.get(grantId);
      // The end of one may have ended others, which are no longer in the set.
      if (why !== undefined && this.#living.delete(living)) onEnd(why);
    }
    if (this.#living.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
