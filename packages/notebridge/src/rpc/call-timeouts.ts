/** A running timeout. */
export interface CallTimeout {
  /** Starts the whole time again. */
  renew(): void;
  /** Clears the timeout. Ending it twice is harmless. */
  end(): void;
}

/** Waits shorter than this end to the millisecond, longer ones up to a second late. Milliseconds. */
const longMs = 10_000;
const tickMs = 1000;

/**
 * Timeouts of calls that come by the thousand and end in a moment. A timer for each would cost more than most of what a peer does
 * for a call; so all long waits share one clock that ticks once a second. It does not keep the process alive: the connection does.
 */
export class CallTimeouts {
  /** Those that wait, in a ring that this one closes. A set of ever new members would make garbage. */
  readonly #ring = new LongTimeout(0, () => {});
  #clock: NodeJS.Timeout | undefined;

  /** Calls back once when the time is over, and never early. */
  start(timeoutMs: number, onOver: () => void): CallTimeout {
    if (timeoutMs < longMs) return startTimer(timeoutMs, onOver);
    const timeout = new LongTimeout(timeoutMs, onOver);
    timeout.putBefore(this.#ring);
    this.#clock ??= setInterval(() => this.#tick(), tickMs).unref();
    return timeout;
  }

  #tick(): void {
    const over: LongTimeout[] = [];
    for (let timeout = this.#ring.next; timeout !== this.#ring; timeout = timeout.next) {
      if (timeout.isOverAfterTick()) over.push(timeout);
    }
    for (const timeout of over) timeout.callBack();
    if (this.#ring.next !== this.#ring) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
  }
}

function startTimer(timeoutMs: number, onOver: () => void): CallTimeout {
  const timer = setTimeout(onOver, timeoutMs);
  return { renew: () => void timer.refresh(), end: () => clearTimeout(timer) };
}

class LongTimeout implements CallTimeout {
  next: LongTimeout = this;
  #before: LongTimeout = this;
  readonly #ticks: number;
  #left: number;
  readonly #onOver: () => void;

  constructor(timeoutMs: number, onOver: () => void) {
    // One more, since the tick that comes first may come at once.
    this.#ticks = this.#left = Math.ceil(timeoutMs / tickMs) + 1;
    this.#onOver = onOver;
  }

  putBefore(other: LongTimeout): void {
    this.next = other;
    this.#before = other.#before;
    other.#before.next = this;
    other.#before = this;
  }

  isOverAfterTick(): boolean {
    return --this.#left <= 0;
  }

  /** Unless it was ended meanwhile. */
  callBack(): void {
    if (this.next === this) return;
    this.end();
    this.#onOver();
  }

  renew(): void {
    this.#left = this.#ticks;
  }

  end(): void {
    this.#before.next = this.next;
    this.next.#before = this.#before;
    this.next = this.#before = this;
  }
}
