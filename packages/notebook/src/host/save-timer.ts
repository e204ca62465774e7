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
    this.#set(Math.max(due, this.#restUntil) - now);
  }

  saved({ tookMs, isDirty }: { tookMs: number; isDirty: boolean }): void {
    this.#failures = 0;
    this.#restUntil = performance.now() + tookMs * restFactor;
    this.#stop();
    if (isDirty) this.changed();
  }

  failed(): void {
    const { retryMs } = this.#timing;
    this.#set(Math.min(longestRetryMs, retryMs * 2 ** Math.min(this.#failures, 20)));
    this.#failures++;
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #set(delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#dirtySince = undefined;
      this.#save();
    }, delayMs);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#dirtySince = undefined;
  }
}
