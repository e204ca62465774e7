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
  readonly #options: CodeClockOptions;
  /** What is left of either time. Milliseconds. */
  readonly #left: Record<'goes' | 'stands', number>;
  #state: 'goes' | 'stands' | 'ended' = 'goes';
  /** Since when it is so. */
  #sinceMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #open = 0;

  constructor(options: CodeClockOptions) {
    this.#options = options;
    this.#left = { goes: options.ms, stands: options.askedMs };
    this.#become('goes');
  }

  /** For how long it has stood. Milliseconds. */
  get stoodMs(): number {
    const now = this.#state === 'stands' ? performance.now() - this.#sinceMs : 0;
    return this.#options.askedMs - this.#left.stands + now;
  }

  /** It stands until what is returned is called, as often as anybody likes. Several at once count once. */
  pause(): () => void {
    let isOpen = true;
    this.#open++;
    if (this.#open === 1 && this.#left.stands >= 1) this.#become('stands');
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#open--;
      if (this.#open === 0) this.#become('goes');
    };
  }

  /** Ending twice is harmless. */
  end(): void {
    this.#become('ended');
  }

  /** What has passed is counted. */
  #become(next: 'goes' | 'stands' | 'ended'): void {
    if (this.#state === 'ended') return;
    clearTimeout(this.#timer);
    const now = performance.now();
    this.#left[this.#state] -= now - this.#sinceMs;
    this.#sinceMs = now;
    this.#state = next;
    if (next !== 'ended') this.#timer = setTimeout(() => this.#expire(), Math.max(0, Math.round(this.#left[next])));
  }

  #expire(): void {
    if (this.#state === 'stands') return this.#become('goes');
    this.end();
    this.#options.onLate();
  }
}
