import { vi } from 'vitest';

/**
 * Waits for what no event tells: the disk, another process. Rejects when it takes too long: below the limit of a test, and far above what a
 * machine takes that is busy, or stands still for some seconds.
 */
export function until<T>(check: () => T | Promise<T>, timeoutMs = 45_000) {
  return vi.waitUntil(check, { timeout: timeoutMs, interval: 10 });
}
