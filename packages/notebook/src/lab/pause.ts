import { setTimeout } from 'node:timers/promises';

/** Resolves after the time, or as soon as the signal ends. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}
