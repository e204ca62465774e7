import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import type { Grant } from './grant.js';
import type { GrantRecords, NotCounted } from './grant-records.js';

export interface CallLeasesOptions {
  records: Pick<GrantRecords, 'change' | 'addUsed'>;
  runtime: Pick<Runtime, 'steady' | 'after'>;
  logger: Logger;
}

interface Lease {
  /** Calls that the records count already and that are not made yet. */
  left: number;
  /** Calls of a grant without a budget, which the records do not count yet. */
  uncounted: number;
  asking: Promise<number> | undefined;
  usedAt: number;
}

/** How often calls are written down, and how long calls that were taken in advance are kept unused. Milliseconds. */
const settleEveryMs = 5000;
/** How long the end waits for what is being written. Milliseconds. */
const closeMs = 5000;
const largestBlock = 1024;

/**
 * Counts calls exactly, across processes, hubs and crashes, without a write per call. A process takes a block of a budget in advance (a
 * quarter of what is left) and the records count it as used; what is not used within five seconds, or at close, is given back. So a
 * crash costs the grant what was taken and not used, and never gives it a call too many. The same goes for a block of which nobody can
 * tell whether it was written that it is taken, or given back: it counts as used.
 */
export class CallLeases {
  readonly #options: CallLeasesOptions;
  readonly #leases = new Map<string, Lease>();
  #stopTimer: (() => void) | undefined;
  #settling: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: CallLeasesOptions) {
    this.#options = options;
  }

  /** Counts one call; false if the budget is used up. At once, except where the records have to be asked first. */
  take(grant: Grant): boolean | Promise<boolean> {
    const lease = this.#leaseOf(grant.id);
    lease.usedAt = this.#options.runtime.steady();
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

  /** The calls of a grant as far as this process knows: those in the records, corrected by what it holds itself. */
  usedOf(grant: Grant): number {
    const lease = this.#leases.get(grant.id);
    return grant.used + (lease?.uncounted ?? 0) - (lease?.left ?? 0);
  }

  /** Writes everything down and gives everything back. Rejects with why something certainly could not be written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#leases.values()].map(({ asking }) => asking));
    this.#stopTimer?.();
    // What is being given back just now is not this process's any more, and not yet anybody else's.
    await new Promise<void>((resolve) => {
      const callOff = this.#options.runtime.after(closeMs, resolve);
      const done = () => {
        callOff();
        resolve();
      };
      this.#settling.then(done, done);
    });
    const failed = await this.#settle({ idleMs: 0, isLast: true });
    if (failed !== undefined) throw failed.error;
  }

  #leaseOf(id: string): Lease {
    let lease = this.#leases.get(id);
    if (lease === undefined) {
      lease = { left: 0, uncounted: 0, asking: undefined, usedAt: 0 };
      this.#leases.set(id, lease);
    }
    if (this.#stopTimer === undefined) this.#settleLater();
    return lease;
  }

  #settleLater(): void {
    if (this.#isClosed) return;
    this.#stopTimer = this.#options.runtime.after(settleEveryMs, () => {
      this.#settling = this.#settle({ idleMs: settleEveryMs }).then((failed) => {
        if (failed !== undefined) this.#options.logger.warn(`The calls of grants could not be written down: ${messageOf(failed.error)}`);
        this.#stopTimer = undefined;
        if (this.#leases.size > 0) this.#settleLater();
      });
    });
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
      const taken = await this.#options.records.change(id, (grant) => {
        if (grant === undefined) return 0;
        const remaining = Math.max(0, (grant.calls ?? 0) - grant.used);
        const block = Math.min(remaining, Math.max(1, Math.ceil(remaining / 4)), largestBlock);
        grant.used += block;
        return block;
      });
      lease.left += taken;
      return taken;
    } finally {
      lease.asking = undefined;
    }
  }

  async #settle({ idleMs, isLast = false }: { idleMs: number; isLast?: boolean }): Promise<NotCounted | undefined> {
    const now = this.#options.runtime.steady();
    const changes = new Map<string, number>();
    for (const [id, lease] of this.#leases) {
      const isIdle = now - lease.usedAt >= idleMs;
      const change = lease.uncounted - (isIdle ? lease.left : 0);
      if (change !== 0) changes.set(id, change);
      lease.uncounted = 0;
      if (isIdle) lease.left = 0;
      if (isIdle && change === 0 && lease.asking === undefined) this.#leases.delete(id);
    }
    if (changes.size === 0) return undefined;
    const failed = await this.#options.records.addUsed(changes, { isLast });
    for (const id of failed?.ids ?? []) this.#takeBack(id, changes.get(id) ?? 0);
    return failed;
  }

  /** What was not written is still to be. */
  #takeBack(id: string, change: number): void {
    const lease = this.#leaseOf(id);
    if (change > 0) lease.uncounted += change;
    else lease.left -= change;
  }
}
