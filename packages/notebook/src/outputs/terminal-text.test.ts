// @module-tag P-315

// biome-ignore-all lint/suspicious/noControlCharactersInRegex: they are what is tested.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coreAndDeep } from '../../../notebridge/test/support/core-and-deep.js';
import { toPlainText } from './terminal-text.js';

describe('toPlainText', () => {
  it.each([
    ['colours, titles and links', '\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b(B', 'red link'],
    ['a progress bar', '\r  0%|   | 0/3\r 50%|#  | 1/3\r100%|###| 3/3\ndone', '100%|###| 3/3\ndone'],
    ['a shorter text over a longer one', 'downloading\rdone', 'doneloading'],
    ['a line that is erased', 'downloading\r\x1b[Kdone\r\x1b[2Kend', 'end'],
    ['bars of tqdm, one within the other', '\rA 0%\n\rB 0%\x1b[A\rA 1%\n\rB 1%\x1b[A\n', 'A 1%\nB 1%'],
    ['backspaces, which move the cursor and erase nothing', 'abc\b\bX\n', 'aXc\n'],
    ['Windows’ ends of lines', 'a\r\nb\r\n', 'a\nb\n'],
    ['halves of characters', 'a\ud800b\udc00c😀', 'a\ufffdb\ufffdc😀'],
    ['a command that never ends', '\x1b]0;title and text', ']0;title and text'],
    ['a sequence that never ends', `\x1b[${'1;'.repeat(100)}`, `[${'1;'.repeat(100)}`],
  ])('reads %s as a person does', (_, printed, read) => {
    expect(toPlainText(printed)).toBe(read);
  });

  it('leaves text without controls as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const plain = text.replaceAll(/[^\P{Cc}\n\t]/gu, '');
        expect(toPlainText(plain)).toBe(plain);
      }),
    );
  });

  it('leaves no code of a terminal behind', () => {
    const part = fc.constantFrom('\x1b', '[', ']', '1', ';', 'm', 'A', 'K', '\x07', '\\', 'P', '\n', '\r', '\b', 'text', '(');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        expect(toPlainText(parts.join(''))).not.toMatch(/[\x1b\x07\b\r]/);
      }),
    );
  });

  it('reads both ends of what is too long, and says so', () => {
    const text = toPlainText(`${'\rfirst\n'.repeat(500_000)}${'\rlast\n'.repeat(500_000)}`);
    const [, head, leftOut, tail] = /^(.*)\[(\d+) characters with codes of a terminal left out here\]\n(.*)$/s.exec(text) ?? [];
    expect([new Set(head?.split('\n')), new Set(tail?.split('\n'))]).toEqual([new Set(['first', '']), new Set(['last', ''])]);
    expect(Number(leftOut)).toBeGreaterThan(4_400_000);
  });

  // Anything quadratic would take hours: these end, or the test times out.
  const long: [string, string][] = [
    ['a million carriage returns on a long line', `${'x'.repeat(5_000_000)}${'\ry'.repeat(1_000_000)}`],
    ['backspaces on a long line', `${'x'.repeat(5_000_000)}${'y\b\b'.repeat(500_000)}`],
    ['commands without an end', '\x1b]0'.repeat(3_000_000)],
    ['one command without an end', `\x1b]${'0'.repeat(20_000_000)}`],
    ['sequences without an end', '\x1b[1;2'.repeat(2_000_000)],
    ['a cursor that goes up and up', '\x1b[999999999A\n'.repeat(1_000_000)],
    ['texts that get shorter', Array.from({ length: 3000 }, (_, index) => `${'x'.repeat(3000 - index)}\r`).join('')],
    ['a million lines', 'line\r\n'.repeat(1_000_000)],
    ['50 MB of colours', '\x1b[31mx\x1b[0m'.repeat(5_000_000)],
  ];
  for (const { cells, tags } of coreAndDeep(long, (_, index) => index % 3 === 0))
    it.each(cells)('takes little time: %s', { tags }, (_, text) => {
      expect(toPlainText(text).length).toBeLessThanOrEqual(text.length);
    });
});
