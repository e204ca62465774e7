import { describe, expect, it } from 'vitest';
import { parseJson } from '../exact-json.js';
import { quote } from './quote.js';

describe('quote', () => {
  it.each([
    ['"a \\"b\\" \\n"', '"a \\"b\\" \\n"'],
    ['12345678901234567890', '12345678901234567890'],
    ['{"toString":1,"toJSON":2}', '{"toString":1,"toJSON":2}'],
    ['null', 'null'],
  ])('shows %s as JSON', (text, shown) => {
    expect(quote(parseJson(text))).toBe(shown);
  });

  it('cuts what is long', () => {
    expect(quote('x'.repeat(1000))).toHaveLength(81);
  });

  it('has words for what has no JSON', () => {
    expect(quote(undefined)).toBe('nothing');
    expect(quote(1n)).toBe('something that cannot be printed');
    expect(quote(parseJson(`${'['.repeat(100_000)}${']'.repeat(100_000)}`))).toBe('something that cannot be printed');
  });
});
