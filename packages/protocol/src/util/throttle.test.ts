import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Throttle } from './throttle.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('runs the first at once and the last at the end of the interval, key by key', () => {
  const ran: string[] = [];
  const throttle = new Throttle(100);
  for (const name of ['a1', 'a2', 'a3', 'b1']) throttle.run(name.slice(0, 1), () => ran.push(name));
  expect(ran).toEqual(['a1', 'b1']);
  vi.advanceTimersByTime(100);
  expect(ran).toEqual(['a1', 'b1', 'a3']);
});

it('waits again after a late one, and starts afresh after a quiet interval', () => {
  const ran: number[] = [];
  const throttle = new Throttle(100);
  const run = (n: number): void => throttle.run('key', () => ran.push(n));
  run(1);
  run(2);
  vi.advanceTimersByTime(100);
  run(3);
  expect(ran).toEqual([1, 2]);
  vi.advanceTimersByTime(100);
  expect(ran).toEqual([1, 2, 3]);
  vi.advanceTimersByTime(200);
  run(4);
  expect(ran).toEqual([1, 2, 3, 4]);
  expect(vi.getTimerCount()).toBe(1);
});
