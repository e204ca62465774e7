import { expect, it } from 'vitest';
import { AuthBackoff } from './auth-backoff.js';

it('doubles the delay from the fourth try on, up to 2 s, and forgets after a quiet minute', () => {
  let now = 1_000_000;
  const tries = new AuthBackoff(() => now);
  expect(Array.from({ length: 10 }, () => tries.add())).toEqual([0, 0, 0, 100, 200, 400, 800, 1600, 2000, 2000]);
  now += 60_000;
  expect(tries.add()).toBe(2000);
  now += 60_001;
  expect(tries.add()).toBe(0);
});

it('stays at the longest delay however many come', () => {
  const tries = new AuthBackoff(() => 0);
  for (let count = 0; count < 5000; count++) tries.add();
  expect(tries.add()).toBe(2000);
});

it('has 64 refusals wait and no more: whoever guesses with many connections keeps no memory of ours busy', async () => {
  const tries = new AuthBackoff(() => 0);
  const waits = Array.from({ length: 3 + 64 }, () => tries.wait());
  expect(await tries.wait()).toBe(false);
  expect(new Set(await Promise.all(waits))).toEqual(new Set([true]));
  expect(await tries.wait()).toBe(true);
});
