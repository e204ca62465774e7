import { printMessage } from '../core/wire.js';
import type { JsonObject } from '../json.js';
import { Throttle } from '../util/throttle.js';
import { TokenBucket } from '../util/token-bucket.js';

/** A notification: a method and its params. */
export interface Said {
  method: string;
  params?: JsonObject;
}

export interface NotificationBrakeOptions {
  /** The sender, as named in the log line for the agent: `the notebook page`. */
  sender: string;
  /** Passes one on. */
  pass: (said: Said) => void;
  /** Milliseconds of a clock that is never set back. Default: `performance.now`. */
  now?: () => number;
}

/** What an agent can take of unsolicited notifications from one sender. Updates of resources have a budget of their own. */
const atOnce = 1000;
const perSecond = 100;
/** Characters of both kinds together. */
const charactersAtOnce = 4 * 1024 * 1024;
const charactersPerSecond = 1024 * 1024;
/** A flood is over when nothing was dropped for so long; one that goes on is reported after ten times as long. Milliseconds. */
const quietMs = 1000;
const quietsUntilTold = 10;

/** An agent is notified at most once in this time that a list changed. Milliseconds. */
const changeIntervalMs = 100;

const updated = 'notifications/resources/updated';
const listChanges = new Set(['tools', 'resources', 'prompts'].map((list) => `notifications/${list}/list_changed`));

/**
 * Limits the unsolicited notifications of one sender to what an agent can take. The excess is dropped and counted, and one log line gives the
 * agent the count. Changes of a list are coalesced, and the last one is always sent. Progress never comes here.
 */
export class NotificationBrake {
  readonly #options: NotificationBrakeOptions;
  readonly #now: () => number;
  readonly #updates: TokenBucket;
  readonly #others: TokenBucket;
  readonly #characters: TokenBucket;
  readonly #changes = new Throttle(changeIntervalMs);
  #dropped = { updates: 0, others: 0 };
  #timer: NodeJS.Timeout | undefined;

  constructor(options: NotificationBrakeOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    const now = this.#now();
    this.#updates = new TokenBucket({ capacity: atOnce, perSecond }, now);
    this.#others = new TokenBucket({ capacity: atOnce, perSecond }, now);
    this.#characters = new TokenBucket({ capacity: charactersAtOnce, perSecond: charactersPerSecond }, now);
  }

  /** Passes it on, or drops it. */
  take(said: Said): void {
    const { method, params } = said;
    if (listChanges.has(method)) return this.#changes.run(method, () => this.#options.pass(said));
    const kind = method === updated ? 'updates' : 'others';
    const bucket = kind === 'updates' ? this.#updates : this.#others;
    const now = this.#now();
    if (bucket.take(now) === 0 && this.#characters.take(now, lengthOf(params)) === 0) return this.#options.pass(said);
    this.#dropped[kind]++;
    this.#timer ??= setInterval(this.#createWatch(), quietMs).unref();
  }

  /** Sends nothing more. Closing twice is harmless. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Waits for the end of the flood, but not for ever. */
  #createWatch(): () => void {
    let before = 0;
    let looks = 0;
    return () => {
      const { updates, others } = this.#dropped;
      if (updates + others > before && ++looks < quietsUntilTold) {
        before = updates + others;
        return;
      }
      this.close();
      this.#notify();
    };
  }

  #notify(): void {
    const { updates, others } = this.#dropped;
    this.#dropped = { updates: 0, others: 0 };
    const again = updates === 0 ? '' : ` ${updates} of them were updates of resources: read again what you watch.`;
    const data = `Dropped ${updates + others} notifications of ${this.#options.sender}: more than ${perSecond} a second came, or more than 1 MiB.${again}`;
    this.#options.pass({ method: 'notifications/message', params: { level: 'warning', logger: 'notebridge', data } });
  }
}

function lengthOf(params: JsonObject | undefined): number {
  if (params === undefined) return 0;
  try {
    return printMessage(params).length;
  } catch {
    // Nested too deeply to be sent to anybody.
    return Number.POSITIVE_INFINITY;
  }
}
