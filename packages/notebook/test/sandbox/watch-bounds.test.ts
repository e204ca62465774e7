/** What is said of a program that Linux has ended before the watch looked. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { SandboxedProcess, SandboxSpec } from '@notebridge/sandbox/spec';
import { watchBounds } from '@notebridge/sandbox/watch-bounds';
import { expect, test } from 'vitest';

const spec: SandboxSpec = { command: ['/bin/sh'], readable: [], folder: '/', programs: true, maxDataBytes: 1024 ** 3 };

async function endAs(hasOverflowed: boolean): Promise<string | undefined> {
  const child = spawn('/bin/sh', ['-c', 'kill -KILL $$'], { stdio: 'ignore' });
  const breach = watchBounds(child as unknown as SandboxedProcess['child'], Promise.resolve(child.pid), spec, {
    groups: { hasOverflowed: () => hasOverflowed },
  });
  await once(child, 'close');
  return breach();
}

test.skipIf(process.platform === 'win32')('its memory is named if its group overflowed, and nothing if not', async () => {
  expect(await endAs(true)).toMatch(/^its processes used \d+ MiB of memory, of 1024 MiB$/);
  expect(await endAs(false)).toBeUndefined();
});

test.skipIf(process.platform === 'win32')('a program whose group overflowed is ended while it still lives', async () => {
  const child = spawn('/bin/cat', { stdio: ['pipe', 'ignore', 'ignore'] });
  const breach = watchBounds(child as unknown as SandboxedProcess['child'], Promise.resolve(child.pid), spec, {
    groups: { hasOverflowed: () => true },
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
  expect(breach()).toMatch(/^its processes used \d+ MiB of memory/);
});
