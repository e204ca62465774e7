import { describe, expect, it } from 'vitest';
import { slipsBetween } from './slips.js';

describe('slipsBetween', () => {
  it.each([
    ['', '', 0],
    ['read', 'read', 0],
    ['', 'ab', 2],
    ['raed', 'read', 1],
    ['red', 'read', 1],
    ['reaad', 'read', 1],
    ['reed', 'read', 1],
    ['direktory', 'directory', 1],
    ['delte', 'delete', 1],
    ['ba', 'ab', 1],
    ['kitten', 'sitting', 3],
    ['abcdef', 'fedcba', 5],
    ['x'.repeat(500), `${'x'.repeat(499)}y`, 1],
  ])('counts between %.20s and %.20s: %d', (from, to, slips) => {
    expect([slipsBetween(from, to, 1000), slipsBetween(to, from, 1000)]).toEqual([slips, slips]);
  });

  it('counts no more than are asked for, and up to there the same', () => {
    const letters = 'abc';
    const words = Array.from({ length: 3 ** 5 }, (_, at) => [1, 3, 9, 27, 81].map((by) => letters[Math.floor(at / by) % 3]).join(''));
    const some = [...words.filter((_, at) => at % 7 === 0), 'a', 'bc', 'abcabc', 'cba'];
    for (const from of some)
      for (const to of some) {
        const all = slipsBetween(from, to, 100);
        for (const most of [0, 1, 2, 3]) expect(slipsBetween(from, to, most), `${from} ${to} ${most}`).toBe(Math.min(all, most + 1));
      }
  });
});
