import { describe, expect, it } from 'vitest';
import { revOf } from './cell-rev.js';

describe('revOf', () => {
  it('is always the same number for a type and a source', { tags: ['P-631'] }, () => {
    // Written down: an agent may have kept one from before an update of ours.
    expect(revOf({ type: 'code', source: 'print(1)' })).toBe(7_802_614_381_432_115);
    expect(revOf({ type: 'text', source: '# T' })).toBe(revOf({ type: 'markdown', source: '# T' }));
  });

  it('tells apart what differs in one character, or in type alone', () => {
    const sources = ['', 'a', 'b', 'ab', 'ba', 'a\n', '\na', 'a ', 'A', 'ä', '𝒂', ...Array.from({ length: 30_000 }, (_, n) => `x = ${n}`)];
    const all = sources.flatMap((source) => ['code', 'markdown', 'raw'].map((type) => revOf({ type, source })));
    expect(new Set(all).size).toBe(all.length);
    expect(all.every((rev) => Number.isSafeInteger(rev) && rev > 0)).toBe(true);
  });
});
