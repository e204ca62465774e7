import type { Command, Report } from '../messages.js';
import type { SignalReceiver } from '../shared-signals.js';
import type { WorkerSide } from './worker-side.js';

export interface MailboxOptions {
  signals: SignalReceiver;
  /** Sends off what was printed, before Python blocks. */
  flush: () => void;
  obey: (command: Command) => void;
}

/**
 * Messages to the host, and from it for code that blocks: it cannot be notified of them, so it fetches them itself. Those that it does not
 * want are kept, and handled in order when Python returns.
 */
export class Mailbox {
  readonly post: (report: Report) => void;
  readonly #side: WorkerSide;
  readonly #signals: SignalReceiver;
  readonly #flush: () => void;
  readonly #obey: (command: Command) => void;
  #kept: Command[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(side: WorkerSide, { signals, flush, obey }: MailboxOptions) {
    this.post = side.post;
    this.#side = side;
    this.#signals = signals;
    this.#flush = flush;
    this.#obey = obey;
  }

  /** False: code here cannot block. */
  get canWait(): boolean {
    return this.#signals.shared && this.#side.receiveNow !== undefined;
  }

  /** A message that came while nothing blocked. */
  take(command: Command): void {
    this.#handleKept();
    this.#obey(command);
  }

  /**
   * Blocks until a message is there that is wanted, the time is over, or an interrupt came, which is forgotten by that unless the caller
   * leaves it to Python.
   */
  wait(
    isWanted: (command: Command) => boolean,
    ms: number,
    { keepsInterrupt = false }: { keepsInterrupt?: boolean } = {},
  ): Command | 'interrupted' | undefined {
    this.#flush();
    const endMs = performance.now() + ms;
    for (;;) {
      const { arrivals } = this.#signals;
      if (keepsInterrupt ? this.#signals.isInterrupted() : this.#signals.takeInterrupt()) return 'interrupted';
      const wanted = this.#find(isWanted);
      if (wanted) return wanted;
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) return undefined;
      this.#signals.waitForArrival(arrivals, leftMs);
    }
  }

  #find(isWanted: (command: Command) => boolean): Command | undefined {
    const at = this.#kept.findIndex(isWanted);
    if (at !== -1) return this.#kept.splice(at, 1)[0];
    for (let next = this.#side.receiveNow?.(); next !== undefined; next = this.#side.receiveNow?.()) {
      if (isWanted(next)) return next;
      this.#kept.push(next);
      this.#timer ??= setTimeout(() => this.#handleKept(), 0);
    }
    return undefined;
  }

  #handleKept(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const kept = this.#kept;
    this.#kept = [];
    for (const command of kept) this.#obey(command);
  }
}
