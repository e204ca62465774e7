// @module-tag P-461

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CodeClock } from './code-clock.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(ms: number, askedMs: number): { clock: CodeClock; isLate: () => boolean } {
  let late = 0;
  const clock = new CodeClock({ ms, askedMs, onLate: () => late++ });
  return { clock, isLate: () => late === 1 };
}

it('ends the time that code may run, and no other', () => {
  const { clock, isLate } = start(1000, 5000);
  vi.advanceTimersByTime(999);
  expect(isLate()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(isLate()).toBe(true);
  clock.end();
});

it('stands while anybody is asked, several at once counted once', () => {
  const { clock, isLate } = start(1000, 5000);
  vi.advanceTimersByTime(600);
  const [first, second] = [clock.pause(), clock.pause()];
  vi.advanceTimersByTime(2000);
  first();
  first();
  vi.advanceTimersByTime(1000);
  second();
  expect(Math.round(clock.stoodMs)).toBe(3000);
  vi.advanceTimersByTime(399);
  expect(isLate()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(isLate()).toBe(true);
  clock.end();
});

it('goes on once all questions together have taken what they may, and stands no more', () => {
  const { clock, isLate } = start(1000, 500);
  const first = clock.pause();
  vi.advanceTimersByTime(500 + 400);
  first();
  const second = clock.pause();
  vi.advanceTimersByTime(599);
  expect(isLate()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(isLate()).toBe(true);
  second();
  vi.advanceTimersByTime(10_000);
  expect(isLate()).toBe(true);
  clock.end();
});

it('a clock that has ended rings no more, whatever is paused and goes on', () => {
  const { clock, isLate } = start(1000, 500);
  const goOn = clock.pause();
  clock.end();
  clock.end();
  goOn();
  clock.pause()();
  vi.advanceTimersByTime(10_000);
  expect(isLate()).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});
