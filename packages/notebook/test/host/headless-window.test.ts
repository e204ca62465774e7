// @module-tag P-666
// @runs process
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { HeadlessWindow } from '../../src/host/headless-window.js';
import { temporaryFolder } from './support/folder.js';

/** Ends with its pipe, as browsers do, but once so many have started. */
async function openWindow(endsAfter = 1) {
  const folder = await temporaryFolder();
  const [program, log] = [join(folder, 'browser'), join(folder, 'log')];
  const script = [
    '#!/bin/sh',
    `for each; do case "$each" in --user-data-dir=*) echo "\${each#*=}" >> '${log}';; esac; done`,
    'cat <&3 > /dev/null',
    `while [ "$(wc -l < '${log}')" -lt ${endsAfter} ]; do sleep 0.05; done`,
  ];
  await writeFile(program, script.join('\n'), { mode: 0o755 });
  /** The folder of each browser that has started. */
  const profiles = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  return { window: new HeadlessWindow({ program, newUrl: () => 'http://127.0.0.1:9/#x' }), profiles };
}

it('ends at once with its host, also while its browser starts', async () => {
  const { window, profiles } = await openWindow();
  const opening = window.open();
  await vi.waitFor(() => expect(profiles()).toHaveLength(1), 15_000);
  const start = performance.now();
  await window.close();
  expect(performance.now() - start).toBeLessThan(5000);
  expect(await opening).toBe(false);
  expect(existsSync(profiles()[0] as string)).toBe(false);
  expect(await window.open()).toBe(false);
});

it('outlives the end of the browser before it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { window, profiles } = await openWindow(2);
  const first = window.open();
  await vi.waitFor(() => expect(profiles()).toHaveLength(1), 15_000);
  window.join();
  expect(await first).toBe(true);
  // Nobody has wanted a picture for a minute.
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  const second = window.open();
  await vi.waitFor(() => expect(profiles()).toHaveLength(2), 15_000);
  await vi.waitFor(() => expect(profiles().filter(existsSync)).toHaveLength(1), 15_000);
  window.join();
  expect(await second).toBe(true);
  await window.close();
});

it('is not waited for again and again where no browser starts, and tries again after a minute', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { window, profiles } = await openWindow();
  vi.stubEnv('TMPDIR', '/proc/none');
  const failed = window.open();
  vi.unstubAllEnvs();
  expect(await failed).toBe(false);
  for (let chart = 0; chart < 3; chart++) expect(await window.open()).toBe(false);
  expect(profiles()).toEqual([]);
  vi.advanceTimersByTime(60_000);
  const opening = window.open();
  await vi.waitFor(() => expect(profiles()).toHaveLength(1), 15_000);
  window.join();
  expect(await opening).toBe(true);
  await window.close();
});
