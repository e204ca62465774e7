import { expect, it } from 'vitest';
import { createLateness } from './late-beat.js';

it('createLateness tells a beat after a pause of the process from those before and behind it', () => {
  let nowMs = 1000;
  const isLate = createLateness(100, () => nowMs);
  const after = (ms: number): boolean => {
    nowMs += ms;
    return isLate();
  };
  expect([after(100), after(150), after(151), after(100), after(3_600_000), after(100)]).toEqual([false, false, true, false, true, false]);
});
