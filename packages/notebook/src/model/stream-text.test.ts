// @module-tag P-658

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StreamText, settle } from './stream-text.js';

const part = fc.constantFrom(
  ...['a', 'bcd', '😀', '\n', '\r', '\r\n', '\b', '\t', '\x07', 'a long line\n', '\n'.repeat(120), ' '.repeat(9)],
  ...['', '31', '1;32', '38;5;208', '48;2;1;2;3', '39', '22'].map((codes) => `\x1b[${codes}m`),
  ...['A', '3A', 'B', 'C', '4C', '2D', 'E', 'F', 'G', '5G', 'H', '2;3H', 'J', '2J', 'K', '1K', '2K', '?25l'].map((code) => `\x1b[${code}`),
  ...['\x1b]0;title\x07', '\x1b]8;;http://x\x1b\\', '\x1b(B', '\x1b7'],
);

/** What stands where every edit was made. */
function write(chunks: readonly string[], before = ''): string {
  const stream = new StreamText(before);
  return chunks.reduce((text, chunk) => {
    const { keep, removed, text: written } = stream.write(chunk);
    expect(text.slice(keep)).toBe(removed);
    return text.slice(0, keep) + written;
  }, before);
}

it('comes to the same text, wherever it is cut into pieces', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.array(fc.nat(60), { maxLength: 10 }), (parts, cuts) => {
      const text = parts.join('');
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
      const chunks = places.slice(1).map((end, index) => text.slice(places[index], end));
      expect(write(chunks)).toBe(write([text]));
    }),
    { numRuns: 500 },
  );
});

it('holds half of a character back until the other half comes', () => {
  expect(write(['a\ud83d', '\ude00\x1b', '[1;32ma'])).toBe('a😀\x1b[1;32ma\x1b[0m');
});

it('goes on behind a text that is there already', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.array(part, { maxLength: 10 }), (parts, more) => {
      const before = settle(parts.join(''));
      const text = write(more, before);
      const rows = before.split('\n').length - 100;
      expect(text.split('\n').slice(0, Math.max(0, rows))).toEqual(before.split('\n').slice(0, Math.max(0, rows)));
    }),
  );
});

it('is settled once it is: what a file has of it is what it shows', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const text = write(parts);
      expect(settle(text)).toBe(text);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: nothing but colours is left.
      expect(text.replaceAll(/\x1b\[[\d;]+m/g, '')).not.toMatch(/[\x1b\r\b\x07]/);
    }),
  );
});
