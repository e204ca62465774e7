import { createHash } from 'node:crypto';

/** So many are remembered; of more the oldest are forgotten. */
const mostStates = 4096;
/** A call waits so long at most for what its agent was asked. Milliseconds. */
const keptMs = 10 * 60_000;

/** What agents of the modern era were asked and have not answered yet, by the `requestState` that their next request brings: a call goes on by it. */
export class UnansweredStates {
  readonly #now: () => number;
  /** When each was asked, the oldest first. */
  readonly #askedAt = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  add(state: unknown): void {
    if (typeof state !== 'string') return;
    this.#askedAt.set(keyOf(state), this.#now());
    for (const oldest of this.#askedAt.keys()) {
      if (this.#askedAt.size <= mostStates) return;
      this.#askedAt.delete(oldest);
    }
  }

  has(state: unknown): boolean {
    return typeof state === 'string' && this.#askedAt.size > 0 && this.#askedAt.has(keyOf(state));
  }

  /** It was answered: what waits is another question, or none. */
  delete(state: unknown): void {
    if (typeof state !== 'string' || this.#askedAt.size === 0) return;
    this.#askedAt.delete(keyOf(state));
    if (this.#askedAt.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when nothing waits that may still be answered. */
  async none(): Promise<void> {
    for (const [key, askedAt] of this.#askedAt) if (this.#now() - askedAt >= keptMs) this.#askedAt.delete(key);
    if (this.#askedAt.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** A server makes its states as long as it likes. */
function keyOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url');
}
