/** Resolves to true when the promise has settled, to false if the time or the signal ends before. Never rejects. */
export function settlesWithin(promise: Promise<unknown>, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const finish = (isSettled: boolean): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(isSettled);
    };
    const onAbort = (): void => finish(false);
    const timer = setTimeout(finish, timeoutMs, false);
    signal?.addEventListener('abort', onAbort, { once: true });
    promise.then(
      () => finish(true),
      () => finish(true),
    );
  });
}
