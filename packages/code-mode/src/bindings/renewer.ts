export interface RenewerOptions {
  /** Does the work. One at a time; what is asked for meanwhile is done once more after it. */
  work: () => Promise<void>;
  /** Receives why the work failed; it is tried again at the next call of `ask`, and after `retryMs`. */
  onFault: (error: unknown) => void;
  /** What is asked for in so short a time is done once. Default 200. Milliseconds. */
  waitMs?: number;
  /** Default 60,000. */
  retryMs?: number;
}

/** Does a piece of work again when it is asked for, not more often than is sensible, and never two at once. */
export class Renewer {
  readonly #options: Required<RenewerOptions>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isAsked = false;
  #isClosed = false;

  constructor(options: RenewerOptions) {
    this.#options = { waitMs: 200, retryMs: 60_000, ...options };
  }

  ask(delayMs = this.#options.waitMs): void {
    if (this.#isClosed) return;
    this.#isAsked = true;
    if (this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#start(), delayMs);
  }

  /** Waits for what runs; nothing is done after it. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #start(): void {
    this.#isAsked = false;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    let nextMs: number | undefined;
    try {
      await this.#options.work();
    } catch (error) {
      this.#options.onFault(error);
      nextMs = this.#options.retryMs;
    }
    this.#running = undefined;
    if (this.#isAsked) this.ask();
    else if (nextMs !== undefined) this.ask(nextMs);
  }
}
