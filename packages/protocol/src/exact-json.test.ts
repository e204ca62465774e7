import { describe, expect, it } from 'vitest';
import { parseJson, printJson, toPlainNumbers } from './exact-json.js';
import { ExactNumber } from './json.js';

describe('parseJson and printJson', () => {
  const toTheLetter = [
    '{"a":12345678901234567890}',
    '{"a":1.0,"b":[1.50,2]}',
    '[1e400,-1E-7,0.1]',
    '{"a":-0}',
    '{"n":9007199254740993,"s":"9007199254740993, 1.0"}',
    '{"__proto__":1.0,"constructor":{"x":2.0}}',
    '{"2":1.0,"1":2.0}',
    '{"deep":[[{"x":[{"y":1.10}]}]],"esc\\"aped\\\\":3.0}',
    '[0.1000000000000000055511151231257827]',
    '{"a":{},"b":[],"c":null,"d":true,"e":false,"f":"","g":1.0}',
    '[0.00000001,-0.0000001,10.0000001]',
    '1.0',
    '"1.0"',
  ];
  it.each(toTheLetter)('gives %s back to the letter', (text) => {
    const value = parseJson(text);
    const printed = printJson(value);
    // Integer-like keys are ordered by the engine; the members must be the same.
    if (text.startsWith('{"2"')) expect(printed).toBe('{"1":2.0,"2":1.0}');
    else expect(printed).toBe(text);
  });

  it('keeps ordinary numbers as numbers', () => {
    expect(parseJson('{"a":1,"b":-2.5,"c":[0,10,100]}')).toEqual({ a: 1, b: -2.5, c: [0, 10, 100] });
  });

  it('reads through white space of any kind', () => {
    expect(printJson(parseJson(' {\n\t"a" : [ 1.0 , 2 ] , "b" : { } }\r\n'))).toBe('{"a":[1.0,2],"b":{}}');
  });

  it('takes the last of two equal keys, as JSON.parse does', () => {
    expect(printJson(parseJson('{"a":{"b":1.0},"a":2.0}'))).toBe('{"a":2.0}');
    expect(printJson(parseJson('{"a":1.0,"a":"x"}'))).toBe('{"a":"x"}');
    expect(printJson(parseJson('{"a":1.0,"a":{"b":3.0}}'))).toBe('{"a":{"b":3.0}}');
  });

  it('does not take a string for an exact number', () => {
    const hostile = { s: '\u0000exact:1', n: new ExactNumber('1.0') };
    expect(printJson(hostile)).toBe('{"s":"\\u0000exact:1","n":1.0}');
  });

  it('acts as a number in arithmetic', () => {
    const { a } = parseJson('{"a":1.50}') as { a: number };
    expect(a * 2).toBe(3);
  });

  it('refuses what JSON.parse refuses', () => {
    expect(() => parseJson('{"a":01}')).toThrow(SyntaxError);
    expect(() => parseJson('')).toThrow(SyntaxError);
  });

  it('prints plain numbers for everybody else, and gives the marker away to nobody', () => {
    const value = parseJson('{"f":1.0,"big":12345678901234567890,"huge":1e400}');
    expect(JSON.stringify(value)).toBe('{"f":1,"big":12345678901234567000,"huge":null}');
    expect(printJson(value)).toBe('{"f":1.0,"big":12345678901234567890,"huge":1e400}');
  });

  it('prints exactly after a value that could not be printed', () => {
    expect(() => printJson([new ExactNumber('1.0'), 1n])).toThrow(TypeError);
    expect(JSON.stringify(new ExactNumber('1.0'))).toBe('1');
    expect(printJson(new ExactNumber('1.0'))).toBe('1.0');
  });
});

describe('toPlainNumbers', () => {
  it('gives numbers in place of exact ones, at any depth', () => {
    const exact = parseJson('{"a":1.0,"b":[{"c":-0,"d":"1.0"},2.50],"__proto__":3.0}');
    const plain = toPlainNumbers(exact);
    expect(JSON.stringify(plain)).toBe('{"a":1,"b":[{"c":0,"d":"1.0"},2.5],"__proto__":3}');
    expect(printJson(exact)).toBe('{"a":1.0,"b":[{"c":-0,"d":"1.0"},2.50],"__proto__":3.0}');
  });

  it('gives the same value where there is none, and the same parts', () => {
    const value = { a: [1, { b: null }], c: 'x' };
    expect(toPlainNumbers(value)).toBe(value);
    const part = { x: 1 };
    expect((toPlainNumbers({ part, n: new ExactNumber('1.0') }) as { part: unknown }).part).toBe(part);
  });
});
