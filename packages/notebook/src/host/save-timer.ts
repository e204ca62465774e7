export interface SaveTiming {
  /** A change is saved when none has followed for so long. Default 500. */
  quietMs: number;
  /** While changes keep coming, they are saved this often. Default 2000. */
  longestMs: number;
  /** How soon a failed save is tried again; doubled with each failure, up to 30 s. Default 1000. */
  retryMs: number;
}

const longestRetryMs = 30_000;
/** A notebook that takes long to save is saved less often, so that no more than a tenth of the time goes into it. */
const restFactor = 10;

/** Decides when to save. */
export class SaveTimer {
  readonly #timing: SaveTiming;
  readonly #save: () => void;
  #timer: NodeJS.Timeout | undefined;
  #ringsAt = 0;
  /** When to save; never before `#ringsAt`. */
  #due = 0;
  /** When the oldest change that is not saved yet came. */
  #dirtySince: number | undefined;
  #restUntil = 0;
  #failures = 0;
  #isClosed = false;

  constructor(save: () => void, timing: Partial<SaveTiming> = {}) {
    this.#save = save;
    this.#timing = { quietMs: 500, longestMs: 2000, retryMs: 1000, ...timing };
  }

  changed(): void {
    const now = performance.now();
    this.#dirtySince ??= now;
    const due = Math.min(now + this.#timing.quietMs, this.#dirtySince + this.#timing.longestMs);
    this.#saveAt(Math.max(due, this.#restUntil), now);
  }

  saved({ tookMs, isDirty }: { tookMs: number; isDirty: boolean }): void {
    this.#failures = 0;
    this.#restUntil = performance.now() + tookMs * restFactor;
    this.#stop();
    if (isDirty) this.changed();
  }

  failed(): void {
    const { retryMs } = this.#timing;
    const now = performance.now();
    this.#saveAt(now + Math.min(longestRetryMs, retryMs * 2 ** Math.min(this.#failures, 20)), now);
    this.#failures++;
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  /** A timer that would ring too early is left alone, and set anew when it rings: changes come by the thousand. */
  #saveAt(due: number, now: number): void {
    this.#due = due;
    if (this.#isClosed || (this.#timer && this.#ringsAt <= due)) return;
    clearTimeout(this.#timer);
    this.#ringsAt = due;
    this.#timer = setTimeout(() => this.#ring(), due - now);
  }

  #ring(): void {
    this.#timer = undefined;
    const now = performance.now();
    // A timer may ring up to a millisecond early.
    if (now < this.#due - 1) return this.#saveAt(this.#due, now);
    this.#dirtySince = undefined;
    this.#save();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#dirtySince = undefined;
  }
}
