/** A flag that can be waited for, as asyncio's Event: set once, every waiter goes on; cleared, new ones wait again. */
export class AsyncEvent {
  #set = false;
  #waiters = new Set<() => void>();

  isSet(): boolean {
    return this.#set;
  }

  set(): void {
    this.#set = true;
    const waiters = this.#waiters;
    this.#waiters = new Set();
    for (const waiter of waiters) waiter();
  }

  clear(): void {
    this.#set = false;
  }

  /** Resolves to true when set, to false when `timeoutMs` has passed or the signal is aborted. Never rejects. */
  wait(timeoutMs?: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#set) return Promise.resolve(true);
    if (signal?.aborted === true) return Promise.resolve(false);
    return new Promise((resolve) => {
      const finish = (wasSet: boolean): void => {
        clearTimeout(timer);
        this.#waiters.delete(onSet);
        signal?.removeEventListener('abort', onAbort);
        resolve(wasSet);
      };
      const onSet = (): void => finish(true);
      const onAbort = (): void => finish(false);
      const timer = timeoutMs === undefined ? undefined : setTimeout(finish, timeoutMs, false);
      this.#waiters.add(onSet);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
