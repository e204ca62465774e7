export interface ReconnectOptions {
  /** Time before the first try; each next one waits twice as long, less up to a half by chance. Milliseconds. Default 500. */
  firstMs?: number;
  /** The longest time between two tries. Milliseconds. Default 4000. */
  maxMs?: number;
  /** Failed tries in a row after which it is given up. Default 300, which is about a quarter of an hour. */
  attempts?: number;
}

const defaults = { firstMs: 500, maxMs: 4000, attempts: 300 };

/** How long to wait before a lost connection is dialled again. */
export class Backoff {
  readonly #options: Required<ReconnectOptions>;
  #failures = 0;

  constructor(options: boolean | ReconnectOptions = true) {
    this.#options = typeof options === 'object' ? { ...defaults, ...options } : { ...defaults, ...(options ? {} : { attempts: 0 }) };
  }

  /** Milliseconds to wait; undefined when it is given up. By chance, so that all pages of a browser do not dial in one moment. */
  next(): number | undefined {
    const { firstMs, maxMs, attempts } = this.#options;
    if (this.#failures >= attempts) return undefined;
    return Math.min(maxMs, firstMs * 2 ** this.#failures++) * (1 - Math.random() / 2);
  }

  reset(): void {
    this.#failures = 0;
  }
}
