import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** What the broker of a home folder says of itself; undefined if there is none. */
export function brokerOf(home: string): { pid: number; address: string; secret: string; version: string } | undefined {
  try {
    return JSON.parse(readFileSync(brokerFileOf(home), 'utf8'));
  } catch {
    return undefined;
  }
}

export function brokerFileOf(home: string): string {
  return join(home, 'state', 'notebridge', 'broker.json');
}

/** Waits until the broker of a home folder has ended, if there was one; one that does not end in time is ended. */
export async function untilBrokerEnded(home: string, timeoutMs = 20_000): Promise<void> {
  const { pid } = brokerOf(home) ?? {};
  if (pid === undefined) return;
  const deadline = performance.now() + timeoutMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) process.kill(pid, 'SIGKILL');
    await pause(10);
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
