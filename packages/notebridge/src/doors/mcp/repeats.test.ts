// @module-tag P-398

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Repeats } from './repeats.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('reports the first at once and the others as a count, key by key', () => {
  const said: string[] = [];
  const repeats = new Repeats(100);
  const note = (key: string): void => repeats.note(key, (times) => said.push(`${key} ${times}`));
  for (const key of ['a', 'a', 'b', 'a']) note(key);
  expect(said).toEqual(['a 1', 'b 1']);
  vi.advanceTimersByTime(100);
  expect(said).toEqual(['a 1', 'b 1', 'a 2']);
  for (let time = 0; time < 1000; time++) note('a');
  expect(said).toHaveLength(3);
  vi.advanceTimersByTime(100);
  expect(said.at(-1)).toBe('a 1000');
  vi.advanceTimersByTime(200);
  note('a');
  expect(said.at(-1)).toBe('a 1');
  vi.advanceTimersByTime(100);
  expect(vi.getTimerCount()).toBe(0);
});
