import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { StartClock } from './start-clock.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

it('a server is late after its longest start so far, and after some time at least; tries that fail are one start', {
  tags: ['P-715'],
}, () => {
  const clock = new StartClock({ lateStartMs: 10_000 });
  const after = (ms: number): boolean => {
    vi.advanceTimersByTime(ms);
    return clock.isLate;
  };
  expect(after(60_000)).toBe(false);
  clock.enter('starting');
  expect([after(9000), after(2000)]).toEqual([false, true]);
  clock.enter('starting');
  expect(after(9000)).toBe(true);
  clock.enter('running');
  expect(after(60_000)).toBe(false);
  // This one has taken twenty seconds.
  clock.enter('starting');
  expect([after(19_000), after(2000)]).toEqual([false, true]);
  clock.enter('failed');
  expect(after(60_000)).toBe(false);
});
