/** Beyond these the oldest is forgotten, and asked about again. */
const mostKept = 10_000;

/** Tools that a person has approved for a session. Sessions have ids that never come again, so that none need be told of their end. */
export class SessionApprovals {
  readonly #keys = new Set<string>();

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(key: string): void {
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > mostKept && oldest !== undefined) this.#keys.delete(oldest);
  }
}
