/**
 * Memory shared with the worker, for what must reach it while Python computes and no message can: the interrupt, how much
 * output has been taken, and that a message is there, for a worker that fetches it itself.
 */
const interruptFlag = 0;
const acknowledged = 1;
const arrived = 2;
const byteLength = 12;
/** The longest time without looking again, in case a wake-up was missed. */
const longestWaitMs = 100;

/** `undefined` where memory can't be shared: a page that is not cross-origin isolated. */
export function createSignals(): SharedArrayBuffer | undefined {
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated ?? true;
  return isolated && typeof SharedArrayBuffer === 'function' ? new SharedArrayBuffer(byteLength) : undefined;
}

/** The kernel's end. */
export function createSender(buffer: SharedArrayBuffer | undefined) {
  const cells = buffer && new Int32Array(buffer);
  return {
    /** `count` says which execution is meant: one that comes too late must not hit the next. */
    interrupt(count: number): void {
      if (!cells) return;
      Atomics.store(cells, interruptFlag, count);
      Atomics.notify(cells, interruptFlag);
      // The worker may also be waiting for its output to be taken.
      Atomics.notify(cells, acknowledged);
    },
    acknowledge(characters: number): void {
      if (!cells) return;
      Atomics.add(cells, acknowledged, characters);
      Atomics.notify(cells, acknowledged);
    },
    /** Call it behind each message. */
    arrive(): void {
      if (!cells) return;
      Atomics.add(cells, arrived, 1);
      Atomics.notify(cells, arrived);
    },
  };
}

/** The worker's end. */
export class SignalReceiver {
  /** False: nobody acknowledges, and no interrupt comes this way. */
  readonly shared: boolean;
  readonly #cells: Int32Array<SharedArrayBuffer>;
  #sent = 0;

  constructor(buffer: SharedArrayBuffer | undefined) {
    this.shared = buffer !== undefined;
    // Memory of WebAssembly can be waited on in every worker, also where SharedArrayBuffer is not to be had.
    this.#cells = new Int32Array(
      buffer ?? (new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer as unknown as SharedArrayBuffer),
    );
  }

  isInterrupted(): boolean {
    return Atomics.load(this.#cells, interruptFlag) !== 0;
  }

  /** Answers whether there was an interrupt, and forgets it. */
  takeInterrupt(): boolean {
    return Atomics.exchange(this.#cells, interruptFlag, 0) !== 0;
  }

  /** Forgets an interrupt that was meant for another execution. */
  keepInterruptOf(count: number): void {
    const meant = Atomics.load(this.#cells, interruptFlag);
    if (meant !== count) Atomics.compareExchange(this.#cells, interruptFlag, meant, 0);
  }

  /** Blocks for the time given, or until an interrupt. */
  sleep(ms: number): void {
    Atomics.wait(this.#cells, interruptFlag, 0, ms);
  }

  /** How many messages have come; to be read before one looks for them. */
  get arrivals(): number {
    return Atomics.load(this.#cells, arrived);
  }

  /** Blocks until another message has come than those of `arrivals`, at most for the time given. */
  waitForArrival(arrivals: number, ms: number): void {
    Atomics.wait(this.#cells, arrived, arrivals, Math.min(ms, longestWaitMs));
  }

  /** Counts characters as sent, and blocks while more than `window` of them have not been taken. An interrupt ends the wait. */
  waitForRoom(characters: number, window: number): void {
    for (;;) {
      const taken = Atomics.load(this.#cells, acknowledged);
      // 32-bit differences stay right when the counters run over.
      if (((this.#sent - taken) | 0) <= window || this.isInterrupted()) break;
      Atomics.wait(this.#cells, acknowledged, taken, longestWaitMs);
    }
    this.#sent = (this.#sent + characters) | 0;
  }
}
