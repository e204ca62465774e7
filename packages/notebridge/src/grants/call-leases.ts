import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import type { Grant } from './grant.js';

export interface CallLeasesOptions {
  /** Changes the grants of the file; the work of the grants file. */
  change: <Result>(change: (grants: Grant[]) => Result) => Promise<Result>;
  logger: Logger;
}

interface Lease {
  /** Calls that the file counts already and that are not made yet. */
  left: number;
  /** Calls of a grant without a budget, which the file does not count yet. */
  uncounted: number;
  asking: Promise<number> | undefined;
  usedAt: number;
}

/** How often calls are written down, and how long calls that were taken in advance are kept unused. Milliseconds. */
const settleEveryMs = 5000;
const largestBlock = 1024;

/**
 * Counts calls exactly, across processes and crashes, without a write per call. A process takes a block of a budget in advance (a
 * quarter of what is left) and the file counts it as used; what is not used within five seconds, or at close, is given back. So a
 * crash costs the grant what was taken and not used, and never gives it a call too many.
 */
export class CallLeases {
  readonly #options: CallLeasesOptions;
  readonly #leases = new Map<string, Lease>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CallLeasesOptions) {
    this.#options = options;
  }

  /** Counts one call; false if the budget is used up. At once, except where the file has to be asked first. */
  take(grant: Grant): boolean | Promise<boolean> {
    const lease = this.#leaseOf(grant.id);
    lease.usedAt = performance.now();
    if (grant.calls === undefined) lease.uncounted++;
    else if (lease.left > 0) lease.left--;
    else return grant.used < grant.calls || lease.asking !== undefined ? this.#ask(grant.id, lease) : false;
    return true;
  }

  /** For a call that was counted and is not made. */
  putBack(grant: Grant): void {
    const lease = this.#leaseOf(grant.id);
    if (grant.calls === undefined) lease.uncounted--;
    else lease.left++;
  }

  /** The calls of a grant as far as this process knows: those in the file, corrected by what it holds itself. */
  usedOf(grant: Grant): number {
    const lease = this.#leases.get(grant.id);
    return grant.used + (lease?.uncounted ?? 0) - (lease?.left ?? 0);
  }

  /** Writes everything down and gives everything back. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#leases.values()].map(({ asking }) => asking));
    await this.#settle({ idleMs: 0 });
    clearTimeout(this.#timer);
  }

  #leaseOf(id: string): Lease {
    let lease = this.#leases.get(id);
    if (lease === undefined) {
      lease = { left: 0, uncounted: 0, asking: undefined, usedAt: 0 };
      this.#leases.set(id, lease);
    }
    this.#timer ??= setTimeout(() => void this.#settleLater(), settleEveryMs).unref();
    return lease;
  }

  async #ask(id: string, lease: Lease): Promise<boolean> {
    for (;;) {
      lease.asking ??= this.#takeBlock(id, lease);
      const taken = await lease.asking;
      if (lease.left > 0) {
        lease.left--;
        return true;
      }
      if (taken === 0) return false;
    }
  }

  async #takeBlock(id: string, lease: Lease): Promise<number> {
    try {
      const taken = await this.#options.change((grants) => {
        const grant = grants.find((candidate) => candidate.id === id);
        const remaining = Math.max(0, (grant?.calls ?? 0) - (grant?.used ?? 0));
        const block = Math.min(remaining, Math.max(1, Math.ceil(remaining / 4)), largestBlock);
        if (grant !== undefined) grant.used += block;
        return block;
      });
      lease.left += taken;
      return taken;
    } finally {
      lease.asking = undefined;
    }
  }

  async #settleLater(): Promise<void> {
    try {
      await this.#settle({ idleMs: settleEveryMs });
    } catch (error) {
      this.#options.logger.warn(`The calls of grants could not be written down: ${messageOf(error)}`);
    }
    this.#timer = undefined;
    if (this.#leases.size > 0) this.#timer = setTimeout(() => void this.#settleLater(), settleEveryMs).unref();
  }

  async #settle({ idleMs }: { idleMs: number }): Promise<void> {
    const now = performance.now();
    const settled = new Map<Lease, { id: string; change: number }>();
    for (const [id, lease] of this.#leases) {
      const isIdle = now - lease.usedAt >= idleMs;
      const change = lease.uncounted - (isIdle ? lease.left : 0);
      if (change !== 0) settled.set(lease, { id, change });
      lease.uncounted = 0;
      if (isIdle) lease.left = 0;
      if (isIdle && change === 0 && lease.asking === undefined) this.#leases.delete(id);
    }
    if (settled.size === 0) return;
    try {
      await this.#options.change((grants) => {
        for (const { id, change } of settled.values()) {
          const grant = grants.find((candidate) => candidate.id === id);
          if (grant !== undefined) grant.used = Math.max(0, grant.used + change);
        }
      });
    } catch (error) {
      for (const [lease, { change }] of settled) {
        if (change > 0) lease.uncounted += change;
        else lease.left -= change;
      }
      throw error;
    }
  }
}
