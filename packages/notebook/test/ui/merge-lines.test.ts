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
});

describe('mergeLines', () => {
  it('keeps both changes where they touch different lines', () => {
    expect(mergeLines('a\nb\nc', 'a!\nb\nc', 'a\nb\nc\nd')).toBe('a!\nb\nc\nd');
  });

  it('leaves one line with two changes to a person', () => {
    expect(mergeLines('a', 'a!', 'a?')).toBeUndefined();
    expect(mergeLines('a\nb', 'a\nx\nb', 'a\ny\nb')).toBeUndefined();
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
