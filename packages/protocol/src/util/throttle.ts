/** Runs what is asked for too often at most once per interval: the first time at once, and the last time at the end of it. */
export class Throttle {
  readonly #intervalMs: number;
  readonly #waiting = new Map<string, (() => void) | undefined>();

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  run(key: string, action: () => void): void {
    if (this.#waiting.has(key)) {
      this.#waiting.set(key, action);
      return;
    }
    this.#waiting.set(key, undefined);
    setTimeout(() => this.#end(key), this.#intervalMs).unref();
    action();
  }

  #end(key: string): void {
    const last = this.#waiting.get(key);
    this.#waiting.delete(key);
    if (last !== undefined) this.run(key, last);
  }
}
