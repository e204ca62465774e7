import { ExactNumber } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { docText, pythonLiteral, pythonString } from './literals.js';

describe('pythonString', () => {
  it.each([
    ['a"b', String.raw`"a\"b"`],
    ['a\\', String.raw`"a\\"`],
    ['a\nb\rc', String.raw`"a\nb\x0dc"`],
    ['\u0000\u202e\ud800\u{e0041}', String.raw`"\x00\u202e\ud800\U000e0041"`],
    ['日本 🙂', '"日本 🙂"'],
  ])('writes %j as %s', (text, literal) => expect(pythonString(text)).toBe(literal));
});

describe('docText', () => {
  it.each([
    ['"""', String.raw`\"\"\"`],
    ['a"', String.raw`a\"`],
    ['"a" b', '"a" b'],
    ['\\N{DASH}\\', String.raw`\\N{DASH}\\`],
    ['a\r\nb\rc\u2028d', 'a\nb\nc\nd'],
    ['a\u202eb\u0000\ud800', String.raw`a\\u202eb\\x00\\ud800`],
  ])('writes %j as %s', (text, written) => expect(docText(text)).toBe(written));

  it('says how much was left out', () => expect(docText('x'.repeat(50), 10)).toBe('xxxxxxxxxx… (40 more characters)'));
});

describe('pythonLiteral', () => {
  it.each([
    [null, 'None'],
    [[true, false, 1, 1.5, 'x'], '[True, False, 1, 1.5, "x"]'],
    [{ a: { '"': [] } }, String.raw`{"a": {"\"": []}}`],
    [new ExactNumber('1.0'), '1.0'],
    [new ExactNumber('12345678901234567890'), '12345678901234567890'],
    [new ExactNumber('1e400'), undefined],
    ['x'.repeat(500), undefined],
    [{ [Symbol.iterator]: 1 }, '{}'],
  ])('writes %j as %s', (value, literal) => expect(pythonLiteral(value)).toBe(literal));
});
