import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NumberRanges } from './number-ranges.js';

describe('NumberRanges', () => {
  it('has what was added and nothing else, as a set has it', () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 60 }) }) },
      { weight: 1, arbitrary: fc.record({ removeBelow: fc.integer({ min: 1, max: 60 }) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const ranges = new NumberRanges(1000);
        const set = new Set<number>();
        for (const one of steps) {
          if ('add' in one) {
            ranges.add(one.add);
            set.add(one.add);
          } else {
            ranges.removeBelow(one.removeBelow);
            for (const number of set) if (number < one.removeBelow) set.delete(number);
          }
          for (let number = 0; number <= 61; number++) expect(ranges.has(number)).toBe(set.has(number));
        }
      }),
    );
  });

  it('keeps one range for all that follow one another', () => {
    const ranges = new NumberRanges(1000);
    for (let number = 2; number < 100_000; number++) ranges.add(number);
    expect(ranges.rangeCount).toBe(1);
  });

  it('takes in the numbers between the lowest ranges when there are too many', () => {
    const ranges = new NumberRanges(3);
    for (const number of [1, 5, 9, 13, 17]) ranges.add(number);
    expect(ranges.rangeCount).toBe(3);
    expect([3, 7, 9, 11, 13, 17].map((number) => ranges.has(number))).toEqual([true, true, true, false, true, true]);
  });
});
