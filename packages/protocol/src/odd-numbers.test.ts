import { describe, expect, it } from 'vitest';
import { hasOddNumber } from './exact-json.js';

describe('hasOddNumber', () => {
  it.each([
    '1.0',
    '-0',
    '-0.0',
    '1e5',
    '1E+2',
    '0.10',
    '12345678901234567890',
    '9007199254740993',
    '0.1428571428571428500',
    '0.0000001',
    '[1,{"a":[2.50]}]',
  ])('sees %s', (text) => expect(hasOddNumber(text)).toBe(true));

  it.each([
    '0',
    '1',
    '-1',
    '10',
    '100',
    '1.5',
    '-10',
    '0.000001',
    '123456789012345',
    '1234567890123456',
    '0.14285714285714285',
    '[true,null,{"a":-2.25}]',
  ])('passes %s', (text) => expect(hasOddNumber(text)).toBe(false));

  it('does not look into strings, however long and however they are escaped', () => {
    for (const length of [0, 1, 46, 47, 48, 49, 95, 96, 97, 500]) {
      for (const end of ['', '\\', '"', '\\"', '\\\\', '"\\']) {
        const text = `${'x'.repeat(length)}${end} 1.0 ${end}`;
        expect(hasOddNumber(JSON.stringify([text, text]))).toBe(false);
        expect(hasOddNumber(`[${JSON.stringify(text)},1.0]`)).toBe(true);
      }
    }
  });

  it('a number that would be printed differently is always found', () => {
    const pieces = [
      '0',
      '1',
      '-1',
      '1.0',
      '-0.5',
      '1e21',
      '0.30000000000000004',
      '9007199254740993',
      '"1.0"',
      '"\\\\"',
      '"a\\"1.0"',
      '5e-324',
      '100',
    ];
    for (const a of pieces) {
      for (const b of pieces) {
        const text = `{"k":[${a}, ${b}],${'"x":"y",'.repeat(3)}"z":${a}}`;
        const isKept = !text
          .replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
          .match(/-?\d[\d.eE+-]*/g)
          ?.some((number) => String(Number(number)) !== number);
        if (!isKept) expect(hasOddNumber(text), text).toBe(true);
      }
    }
  });
});
