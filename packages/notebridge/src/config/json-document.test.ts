import { describe, expect, it } from 'vitest';
import { describeFault } from './fault.js';
import { type JsonDocument, parseJsonDocument } from './json-document.js';

const parse = (text: string): JsonDocument => {
  const parsed = parseJsonDocument(text);
  if ('faults' in parsed) throw new Error(parsed.faults.map((fault) => describeFault('f', fault)).join('\n'));
  return parsed.document;
};

describe('parseJsonDocument', () => {
  it('reads JSON with comments and trailing commas', () => {
    expect(parse('// one\n{ "a": [1, 2,], /* two */ "b": { "c": null, }, }').value).toEqual({ a: [1, 2], b: { c: null } });
  });

  it('places keys and values, in the order of the file, whatever its line ends', () => {
    const document = parse('{\r\n  "a": 1,\r\n  "b": [\r\n    true ]\r\n}');
    const words = { found: 'x', next: 'y' };
    const faults = document.locate([
      { path: ['b', 0], at: 'value', ...words },
      { path: ['a'], at: 'value', ...words },
      { path: ['a'], at: 'key', ...words },
      { path: ['none'], at: 'key', ...words },
    ]);
    expect(faults.map((fault) => [fault.key, fault.line, fault.column])).toEqual([
      ['none', 1, 1],
      ['a', 2, 3],
      ['a', 2, 8],
      ['b[0]', 4, 5],
    ]);
  });

  it.each([
    ['', 'f:1:1: The file is empty'],
    [' \n\t', 'f:1:1: The file is empty'],
    ['{ "a": 1\n "b": 2 }', 'f:2:2: The file is not JSON: a text stands there. Put a comma before it.'],
    ['{ "a" 1 }', 'f:1:7: The file is not JSON: a number stands there. Put a colon'],
    ['{ a: 1 }', 'f:1:3: The file is not JSON: a word without quotes stands there. Put text in double quotes'],
    ['{ "a": }', 'f:1:8: The file is not JSON: "}" stands there. Write a value there'],
    ['{ "a": 1', 'f:1:9: The file is not JSON: nothing stands there. Close the object'],
    ['{ "a": "x\n" }', 'f:1:8: The file is not JSON: a text stands there. Close the text'],
    ['{} {}', 'f:1:4: The file is not JSON: "{" stands there. Delete what follows'],
    ['{ "a": 1, "a": 2 }', 'f:1:11: "a" is given twice. Keep one'],
    ['{ "s": { "x": { "q": 1, "q": 1 } } }', 'f:1:25: "s.x.q" is given twice.'],
    ['{ "__proto__": { "x": 1 } }', 'f:1:3: "__proto__" is not allowed as a key.'],
  ])('says what is wrong with %j', (text, expected) => {
    expect(() => parse(text)).toThrow(expected);
  });

  it('stays quick and brief with a file that is something else altogether', () => {
    const parsed = parseJsonDocument('a word \n'.repeat(20_000));
    expect('faults' in parsed && parsed.faults.length).toBe(100);
  });

  it('bounds the nesting instead of overflowing the stack', () => {
    expect(() => parse(`{"a":\n${'['.repeat(200_000)}`)).toThrow('f:2:100: The file is nested deeper than 100 levels.');
    expect(parse(`${'['.repeat(100)}${']'.repeat(100)}`).value).toBeDefined();
  });
});
