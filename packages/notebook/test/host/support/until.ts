const stepMs = 10;

/**
 * Waits for what no event tells: the disk, another process. Rejects with the last fault when it takes too long: below the limit of a test,
 * and far above what a machine takes that is busy, or stands still for some seconds.
 */
export async function until<T>(check: () => T | Promise<T>, timeoutMs = 45_000): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await check();
    if (value) return value as NonNullable<Exclude<T, false>>;
    if (Date.now() > deadline) throw new Error(`It did not come about within ${timeoutMs} ms: ${check}`);
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
}
