import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { ServerConfig } from '../config/server-config.js';
import { EraVerdicts } from './era-verdicts.js';

const server = {
  transport: 'stdio',
  command: 'runs',
  args: ['secret-argument'],
  env: { KEY: 'secret-key' },
} as Partial<ServerConfig> as ServerConfig;

it('holds for a day, for all processes, until it does not any more; of the entry a hash alone is kept', { tags: ['P-348'] }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'notebridge-eras-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const path = join(dir, 'eras.json');
  const first = new EraVerdicts({ path });
  expect(first.find(server)).toBeUndefined();
  first.keep(server, 'modern');
  await first.saved();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).not.toMatch(/secret|runs/);
  const next = new EraVerdicts({ path });
  expect([next.find(server), next.find({ ...server, args: ['edited'] } as ServerConfig)]).toEqual(['modern', undefined]);
  vi.advanceTimersByTime(24 * 3_600_000 - 1);
  expect(next.find(server)).toBe('modern');
  vi.advanceTimersByTime(1);
  expect(next.find(server)).toBeUndefined();
  next.keep(server, 'legacy');
  next.drop(server);
  await next.saved();
  expect(new EraVerdicts({ path }).find(server)).toBeUndefined();
});
