import { describe, expect, it } from 'vitest';
import { Backoff } from './backoff.js';

describe('Backoff', () => {
  it('waits twice as long each time, less up to a half, until it gives up', () => {
    const backoff = new Backoff({ firstMs: 100, maxMs: 400, attempts: 4 });
    for (const longest of [100, 200, 400, 400]) {
      const waitMs = backoff.next() ?? 0;
      expect(waitMs).toBeGreaterThan(longest / 2 - 1);
      expect(waitMs).toBeLessThanOrEqual(longest);
    }
    expect(backoff.next()).toBeUndefined();
    backoff.reset();
    expect(backoff.next()).toBeLessThanOrEqual(100);
  });

  it('is on by default, and can be off', () => {
    expect(new Backoff().next()).toBeLessThanOrEqual(500);
    expect(new Backoff(false).next()).toBeUndefined();
  });
});
