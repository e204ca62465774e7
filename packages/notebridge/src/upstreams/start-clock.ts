import type { ServerStatus } from '@notebridge/protocol/core/tool-server';
import type { UpstreamLimits } from './upstream-limits.js';

/** Whether a server takes longer to start than it usually does. By a clock that nobody sets. */
export class StartClock {
  readonly #lateMs: number;
  /** The longest start so far that has succeeded. */
  #longestMs = 0;
  /** Undefined: it is not starting. Tries that fail are one start with the next. */
  #beganAt: number | undefined;

  constructor({ lateStartMs }: Pick<UpstreamLimits, 'lateStartMs'>) {
    this.#lateMs = lateStartMs;
  }

  get isLate(): boolean {
    return this.#beganAt !== undefined && performance.now() - this.#beganAt > Math.max(this.#lateMs, this.#longestMs);
  }

  enter(status: ServerStatus): void {
    if (status === 'starting') {
      this.#beganAt ??= performance.now();
      return;
    }
    if (status === 'running' && this.#beganAt !== undefined) this.#longestMs = Math.max(this.#longestMs, performance.now() - this.#beganAt);
    this.#beganAt = undefined;
  }
}
