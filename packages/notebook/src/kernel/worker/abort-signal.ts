/**
 * `AbortController` and `AbortSignal` for Python: those of the runtime lead to its own classes, and keep their listeners where
 * anybody finds them.
 */
type Listener = ((event: object) => void) | { handleEvent(event: object): void };

let abort: (signal: PlainAbortSignal, reason: unknown) => void;

export class PlainAbortSignal {
  #aborted = false;
  #reason: unknown;
  #listeners: { listener: Listener; once: boolean }[] = [];

  static {
    abort = (signal, reason) => signal.#abort(reason);
  }

  /** Whether it is one; no object can pretend. */
  static isSignal(value: unknown): value is PlainAbortSignal {
    return typeof value === 'object' && value !== null && #aborted in value;
  }

  static abort(reason?: unknown): PlainAbortSignal {
    const signal = new PlainAbortSignal();
    signal.#abort(reason);
    return signal;
  }

  static timeout(ms: number): PlainAbortSignal {
    const signal = new PlainAbortSignal();
    setTimeout(() => signal.#abort(namedError('TimeoutError', 'The operation was aborted due to timeout')), Number(ms));
    return signal;
  }

  static any(signals: Iterable<PlainAbortSignal>): PlainAbortSignal {
    const signal = new PlainAbortSignal();
    for (const other of signals) {
      if (other.aborted) signal.#abort(other.reason);
      else other.addEventListener('abort', () => signal.#abort(other.reason));
    }
    return signal;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(type: string, listener: Listener, options?: { once?: boolean }): void {
    if (type !== 'abort' || this.#listeners.some((entry) => entry.listener === listener)) return;
    this.#listeners.push({ listener, once: options?.once === true });
  }

  removeEventListener(type: string, listener: Listener): void {
    if (type === 'abort') this.#listeners = this.#listeners.filter((entry) => entry.listener !== listener);
  }

  #abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason === undefined ? namedError('AbortError', 'This operation was aborted') : reason;
    const listeners = this.#listeners;
    this.#listeners = listeners.filter(({ once }) => !once);
    for (const { listener } of listeners) {
      const event = { type: 'abort', target: this };
      if (typeof listener === 'function') listener(event);
      else listener.handleEvent(event);
    }
  }
}

export class PlainAbortController {
  readonly #signal = new PlainAbortSignal();

  get signal(): PlainAbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    abort(this.#signal, reason);
  }
}

function namedError(name: string, message: string): Error {
  return Object.defineProperty(new Error(message), 'name', { value: name });
}
