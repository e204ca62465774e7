export interface CodeClockOptions {
  /** How long the code may run. Milliseconds. */
  ms: number;
  /** For how long the clock stands while people are asked, all together; then it goes on. Milliseconds. */
  askedMs: number;
  /** The time is over. */
  onLate: () => void;
}

/** The time that code may run. It stands while a person is asked: how long that takes is not the code's affair. */
export class CodeClock {
  readonly #onLate: () => void;
  #leftMs: number;
  #askedLeftMs: number;
  #open = 0;
  /** Since when the clock goes, or stands. */
  #sinceMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #stands = false;
  #stoodMs = 0;
  #isEnded = false;

  constructor({ ms, askedMs, onLate }: CodeClockOptions) {
    this.#onLate = onLate;
    this.#leftMs = ms;
    this.#askedLeftMs = askedMs;
    this.#go();
  }

  /** For how long it has stood. Milliseconds. */
  get stoodMs(): number {
    return this.#stoodMs + (this.#stands ? performance.now() - this.#sinceMs : 0);
  }

  /** It stands until what is returned is called, as often as anybody likes. Several at once count once. */
  pause(): () => void {
    let isOpen = true;
    this.#open++;
    if (this.#open === 1) this.#stand();
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#open--;
      if (this.#open === 0) this.#go();
    };
  }

  /** Ending twice is harmless. */
  end(): void {
    this.#settle();
    this.#isEnded = true;
  }

  #stand(): void {
    if (this.#isEnded || this.#askedLeftMs < 1) return;
    this.#settle();
    this.#stands = true;
    this.#timer = setTimeout(() => this.#go(), Math.round(this.#askedLeftMs));
  }

  #go(): void {
    if (this.#isEnded) return;
    this.#settle();
    this.#timer = setTimeout(() => this.#ring(), Math.max(0, Math.round(this.#leftMs)));
  }

  #ring(): void {
    this.end();
    this.#onLate();
  }

  /** What has passed is counted. */
  #settle(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    const passedMs = now - this.#sinceMs;
    this.#sinceMs = now;
    if (this.#isEnded) return;
    if (this.#stands) {
      this.#askedLeftMs -= passedMs;
      this.#stoodMs += passedMs;
    } else this.#leftMs -= passedMs;
    this.#stands = false;
  }
}
