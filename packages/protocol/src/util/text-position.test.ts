import { describe, expect, it } from 'vitest';
import { positionsIn } from './text-position.js';

describe('positionsIn', () => {
  it('counts lines and columns from 1, over all kinds of line end', () => {
    const text = 'ab\ncd\r\nef\rg';
    const at = positionsIn(text);
    const placeOf = (sign: string): number[] => Object.values(at(text.indexOf(sign)));
    expect(placeOf('a')).toEqual([1, 1]);
    expect(placeOf('b')).toEqual([1, 2]);
    expect(placeOf('d')).toEqual([2, 2]);
    expect(placeOf('e')).toEqual([3, 1]);
    expect(placeOf('g')).toEqual([4, 1]);
    expect(at(text.length)).toEqual({ line: 4, column: 2 });
    expect(positionsIn('')(0)).toEqual({ line: 1, column: 1 });
  });
});
