import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { setInJson } from './json-format.js';

const value = { a: ['b'] };
const set = (text: string, path = ['s', 'n']): string => setInJson(text, path, value);

describe('setInJson', () => {
  it.each([
    ['an empty object', '{}', '{\n  "s": {\n    "n": {\n      "a": [\n        "b"\n      ]\n    }\n  }\n}'],
    ['an empty inner object', '{\n  "s": {}\n}\n', '{\n  "s": {\n    "n": {\n      "a": [\n        "b"\n      ]\n    }\n  }\n}\n'],
    ['an object of comments', '{ // top\n}', '{ // top\n  "s": {\n    "n": {\n      "a": [\n        "b"\n      ]\n    }\n  }\n}'],
    ['one line', '{"x":1,"s":{"y":2}}', '{"x":1,"s":{"y":2, "n": { "a": ["b"] }}}'],
    ['one line with spaces', '{ "s": { "y": 2 } }', '{ "s": { "y": 2, "n": { "a": ["b"] } } }'],
    ['one line with a trailing comma', '{ "s": { "y": 2, } }', '{ "s": { "y": 2, "n": { "a": ["b"] }, } }'],
    ['one line with a comment', '{ "s": { "y": 2 /* , */ } }', '{ "s": { "y": 2, /* , */ "n": { "a": ["b"] } } }'],
    [
      'several lines',
      '{\n\t"s": {\n\t\t"y": 2 // why\n\t}\n}',
      '{\n\t"s": {\n\t\t"y": 2, // why\n\t\t"n": {\n\t\t\t"a": [\n\t\t\t\t"b"\n\t\t\t]\n\t\t}\n\t}\n}',
    ],
    [
      'a trailing comma',
      '{\n "s": {\n  "y": 2, // why\n  // end\n }\n}',
      '{\n "s": {\n  "y": 2, // why\n  // end\n  "n": {\n   "a": [\n    "b"\n   ]\n  },\n }\n}',
    ],
    ['an old value', '{ "s": { "n": [1, 2] /* old */ } }', '{ "s": { "n": { "a": ["b"] } /* old */ } }'],
    [
      'Windows line ends',
      '{\r\n  "x": 1\r\n}',
      '{\r\n  "x": 1,\r\n  "s": {\r\n    "n": {\r\n      "a": [\r\n        "b"\r\n      ]\r\n    }\r\n  }\r\n}',
    ],
  ])('sets in %s', (_name, text, expected) => {
    expect(set(text)).toBe(expected);
    expect(parse(set(text))).toMatchObject({ s: { n: value } });
  });

  it('sets at the top', () => {
    expect(setInJson('{\n  "x": 1\n}\n', ['y'], true)).toBe('{\n  "x": 1,\n  "y": true\n}\n');
  });
});
