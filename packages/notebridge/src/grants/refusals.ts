import type { Logger } from '@notebridge/protocol/util/logger';
import { classOfAddress, meantAddress } from '@notebridge/system/net/address-class';
import type { RefusedAttempt } from '@notebridge/system/net/refused-attempt';
import type { RefusedEntry } from './audit-line.js';

export interface RefusalsOptions {
  /** Left out: no audit, only the log. */
  audit?: { add(entry: RefusedEntry): void } | undefined;
  logger: Logger;
  /** Milliseconds since the epoch. Default: the clock. */
  now?: () => number;
}

/** How long attempts of one kind are counted before they are written. Milliseconds. */
const foldMs = 60_000;
/** Kinds that are counted separately at once; any beyond them are counted together. Only holders of grants can make up so many. */
const maxKinds = 256;

/** Attempts that are alike, and how many of them are not in the audit yet. */
interface Fold {
  entry: Omit<RefusedEntry, 'times' | 'endedAt'>;
  times: number;
  lastAt: number;
}

/**
 * Records refused attempts: the first of a kind at once, the rest as a count when the minute is over, so that a flood costs two
 * lines a minute. The log gets one line a minute. Kinds differ by door, reason, grant and the class of the address; whatever was shown
 * leaves nothing here.
 */
export class Refusals {
  readonly #options: RefusalsOptions;
  readonly #now: () => number;
  readonly #folds = new Map<string, Fold>();
  #total = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: RefusalsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Counts one. Never throws. */
  add({ door, reason, grantId, remoteAddress }: RefusedAttempt): void {
    if (this.#isClosed) return;
    this.#total++;
    const remote = remoteClassOf(remoteAddress);
    const key = `${door} ${reason} ${grantId} ${remote}`;
    const known = this.#folds.get(key) ?? (this.#folds.size < maxKinds ? undefined : this.#folds.get(beyond));
    const now = this.#now();
    if (known !== undefined) {
      known.times++;
      known.lastAt = now;
      return;
    }
    const isBeyond = this.#folds.size >= maxKinds;
    const entry = isBeyond
      ? { door: 'other', reason: 'other', grantId: undefined, remote, since: now }
      : { door, reason, grantId, remote, since: now };
    this.#folds.set(isBeyond ? beyond : key, { entry, times: 0, lastAt: now });
    this.#options.audit?.add({ ...entry, times: 1, endedAt: now });
    this.#timer ??= setTimeout(() => this.flush(), foldMs).unref();
  }

  /** Writes what was counted, and begins anew. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#total === 0) return;
    const reasons: Record<string, number> = {};
    for (const { entry, times, lastAt } of this.#folds.values()) {
      reasons[entry.reason] = (reasons[entry.reason] ?? 0) + times + 1;
      if (times > 0) this.#options.audit?.add({ ...entry, times, endedAt: lastAt });
    }
    const what = this.#total === 1 ? 'A request was refused' : `${this.#total} requests were refused`;
    const more = this.#options.audit === undefined ? '' : ' The audit has more.';
    this.#options.logger.warn(`${what} within a minute.${more}`, { times: this.#total, ...reasons });
    this.#total = 0;
    this.#folds.clear();
  }

  /** Writes what was counted; later ones are not. Closing twice is harmless. */
  close(): void {
    this.flush();
    this.#isClosed = true;
  }
}

/** The key of what is counted together. No other has no space. */
const beyond = 'beyond';

let lastAddress: string | undefined;
let lastClass: RefusedEntry['remote'] = 'unknown';

/** Where an address is: this machine, a network of ours, or anywhere. A flood comes from few; looking one up costs most of a count. */
export function remoteClassOf(address: string | undefined): RefusedEntry['remote'] {
  if (address !== lastAddress) lastClass = lookUpClass(address);
  lastAddress = address;
  return lastClass;
}

function lookUpClass(address = ''): RefusedEntry['remote'] {
  const found = classOfAddress(meantAddress(address)) ?? 'unknown';
  return found === 'special' ? 'public' : found;
}
