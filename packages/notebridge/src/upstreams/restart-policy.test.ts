// @module-tag P-063

import { describe, expect, it } from 'vitest';
import { RestartPolicy } from './restart-policy.js';

describe('RestartPolicy', () => {
  it('starts again at once, then ever later, and gives up after five bad starts in a row', () => {
    const policy = new RestartPolicy();
    const pauses = [0, 0, 9_999, 0].map((livedMs) => policy.pauseAfter(livedMs) ?? expect.fail());
    expect(pauses[0]).toBe(50);
    for (const [index, longest] of [250, 500, 1000].entries()) {
      expect(pauses[index + 1]).toBeGreaterThanOrEqual(longest / 2);
      expect(pauses[index + 1]).toBeLessThanOrEqual(longest);
    }
    expect(policy.pauseAfter(0)).toBeUndefined();
  });

  it('a program that lives for a while is never given up, and a healthy life forgets what was before', () => {
    const policy = new RestartPolicy();
    for (const livedMs of [0, 0, 0, 60_000]) policy.pauseAfter(livedMs);
    expect(policy.badStarts).toBe(0);
    for (let life = 0; life < 100; life++) expect(policy.pauseAfter(10_000)).toBe(50);
  });

  it('tries an address where nothing answers for about a minute, and knows when nobody is to wait for it any more', () => {
    const policy = new RestartPolicy();
    const pauses = Array.from({ length: 9 }, () => [policy.pauseWhileDown() ?? expect.fail(), policy.isLongDown] as const);
    const longest = [50, 250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000];
    for (const [index, [pauseMs]] of pauses.entries()) {
      expect(pauseMs).toBeGreaterThanOrEqual((longest[index] ?? 0) / 2);
      expect(pauseMs).toBeLessThanOrEqual(longest[index] ?? 0);
    }
    expect(pauses.map(([, isLongDown]) => isLongDown).indexOf(true)).toBe(5);
    expect(policy.pauseWhileDown()).toBeUndefined();
    policy.start();
    expect([policy.isLongDown, policy.pauseWhileDown(), policy.badStarts]).toEqual([false, 50, 0]);
    policy.allowOne();
    expect(policy.pauseWhileDown()).toBeUndefined();
  });

  it('gives one that was given up a single try', () => {
    const policy = new RestartPolicy();
    policy.allowOne();
    expect(policy.pauseAfter(0)).toBeUndefined();
    policy.reset();
    expect(policy.pauseAfter(0)).toBe(50);
  });
});
