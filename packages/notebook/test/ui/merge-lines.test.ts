import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, mergeLines } from '../../src/ui/state/merge-lines.js';

const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 8 }).map((lines) => lines.join('\n'));

describe('diffLines', () => {
  it('gives hunks that make the new text of the old one', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = before.split('\n');
        for (const { start, end, lines: added } of diffLines(before, after).reverse()) lines.splice(start, end - start, ...added);
        expect(lines.join('\n')).toBe(after);
      }),
    );
  });

  it('finds single edits in a text of any length', () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => (at % 5 === 0 ? '' : `line ${at}`));
    const edited = ['first', ...lines.slice(0, 10_000), 'middle', ...lines.slice(10_001), 'last'];
    expect(diffLines(lines.join('\n'), edited.join('\n'))).toEqual([
      { start: 0, end: 0, lines: ['first'] },
      { start: 10_000, end: 10_001, lines: ['middle'] },
      { start: 20_000, end: 20_000, lines: ['last'] },
    ]);
  });

  it.each<[string, (at: number) => string, (at: number) => string]>([
    ['of one line, many times', () => '', () => ''],
    ['with no line in common', (at) => `a${at}`, (at) => `b${at}`],
    ['of the same few lines in another order', (at) => 'ab'[at % 2] ?? '', (at) => 'abb'[at % 3] ?? ''],
    ['with every third line changed', (at) => `line ${at}`, (at) => (at % 3 === 0 ? `line ${at}!` : `line ${at}`)],
  ])('keeps nobody waiting with 10,000 lines %s', (_, lineBefore, lineAfter) => {
    const before = ['head', 'x', ...Array.from({ length: 10_000 }, (_, at) => lineBefore(at)), 'y', 'tail'];
    const after = ['head', 'z', ...Array.from({ length: 9_990 }, (_, at) => lineAfter(at)), 'w', 'tail'];
    const start = performance.now();
    const hunks = diffLines(before.join('\n'), after.join('\n'));
    expect(performance.now() - start).toBeLessThan(20_000);
    expect(hunks[0]?.start).toBe(1);
    expect(hunks.at(-1)?.end).toBe(10_003);
    const lines = [...before];
    for (const { start, end, lines: added } of hunks.reverse()) lines.splice(start, end - start, ...added);
    expect(lines).toEqual(after);
  });
});

describe('mergeLines', () => {
  it('keeps both changes where they touch different lines', () => {
    expect(mergeLines('a\nb\nc', 'a!\nb\nc', 'a\nb\nc\nd')).toBe('a!\nb\nc\nd');
  });

  it('leaves one line with two changes to a person', () => {
    expect(mergeLines('a', 'a!', 'a?')).toBeUndefined();
    expect(mergeLines('a\nb', 'a\nx\nb', 'a\ny\nb')).toBeUndefined();
  });

  it('keeps changes of two lines that are neighbours', () => {
    expect(mergeLines('a\nb', 'a!\nb', 'a\nb?')).toBe('a!\nb?');
  });

  it('takes the same change once', () => {
    expect(mergeLines('a\nb\nc', 'a\nB\nc', 'a\nB\nc\nd')).toBe('a\nB\nc\nd');
  });

  it('tells a line that was emptied from one that was deleted', () => {
    expect(mergeLines('a\nc', '\nc', 'c')).toBeUndefined();
  });

  it('is the other text where one side changed nothing', () => {
    fc.assert(
      fc.property(text, text, (base, other) => {
        expect(mergeLines(base, base, other)).toBe(other);
        expect(mergeLines(base, other, base)).toBe(other);
      }),
    );
  });

  it('does not depend on who is who', () => {
    fc.assert(
      fc.property(text, text, text, (base, mine, theirs) => {
        expect(mergeLines(base, mine, theirs)).toBe(mergeLines(base, theirs, mine));
      }),
    );
  });
});
