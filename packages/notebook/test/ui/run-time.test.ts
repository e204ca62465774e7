import { expect, it } from 'vitest';
import { describeTime } from '../../src/ui/cells/run-time.js';

it.each([
  [300, '0.3 s'],
  [59_949, '59.9 s'],
  [59_950, '1:00 min'],
  [100_000, '1:40 min'],
  [245_000, '4:05 min'],
  [7_380_000, '2:03 h'],
])('%i ms beside a cell is %s', (ms, text) => {
  expect(describeTime(ms)).toBe(text);
  // The gutter has room for as many characters of its font.
  expect(text.length).toBeLessThanOrEqual(8);
});
