import { ExactNumber } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { compareCodePoints, isSameJson, keysOf, toCanonical, toObject } from './json.js';
import { printNotebookJson } from './json-printer.js';
import { offsetOf, parseNotebookJson, placeOf } from './json-reader.js';

describe('toCanonical', () => {
  it('sorts keys as Python does, where JavaScript would sort halves of characters or put numbers first', () => {
    const sorted = toCanonical({ '😀': 1, '\uff01': 2, 2: 3, 10: 4, a: { z: [], y: 1n } });
    expect(keysOf(sorted as object as Record<string, unknown>)).toEqual(['10', '2', 'a', '\uff01', '😀']);
    expect(printNotebookJson(sorted)).toBe('{\n "10": 4,\n "2": 3,\n "a": {\n  "y": 1,\n  "z": []\n },\n "\uff01": 2,\n "😀": 1\n}');
  });
});

describe('compareCodePoints', () => {
  it.each([
    ['a', 'b', -1],
    ['b', 'ab', 1],
    ['a', 'ab', -1],
    ['\uff01', '😀', -1],
    ['😀', '😁', -1],
    ['é', 'é', 0],
  ])('orders %s and %s', (left, right, sign) => {
    expect(Math.sign(compareCodePoints(left, right))).toBe(sign);
  });
});

describe('parseJson', () => {
  it('keeps what a JavaScript object would lose: order, __proto__, the spelling of numbers', () => {
    const text = '{\n "2": 1.0,\n "10": -0,\n "__proto__": {\n  "x": 1e5\n },\n "n": NaN\n}';
    expect(printNotebookJson(parseNotebookJson(text))).toBe(text);
  });

  it('takes the last of equal keys, as Python does', () => {
    expect(printNotebookJson(parseNotebookJson('{"b": 1, "a": 2, "b": 3}'))).toBe('{\n "b": 3,\n "a": 2\n}');
    expect(placeOf('{"b": 1,\n"b": 3}', offsetOf('{"b": 1,\n"b": 3}', ['b']))).toEqual({ line: 2, column: 6 });
  });

  it.each([
    '',
    '{',
    '[1,]',
    '{"a" 1}',
    '{a: 1}',
    '01',
    '+1',
    '.5',
    '1.',
    "'a'",
    '"\n"',
    '"\\x"',
    '[1] 2',
    'nul',
    'tru',
    'undefined',
    '{"a":1,,}',
    '\u00a01',
  ])('refuses %j', (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(() => parseNotebookJson(text)).toThrow(expect.objectContaining({ name: 'JsonSyntaxError' }));
  });
});

describe('isSameJson', () => {
  it('compares by value, numbers by spelling', () => {
    expect(isSameJson({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toBe(true);
    expect(isSameJson({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
    expect(isSameJson(toObject([['a', new ExactNumber('1.0')]]), toObject([['a', new ExactNumber('1.0')]]))).toBe(true);
    for (const [left, right] of [
      [[], {}],
      [null, {}],
      [[1], [1, 2]],
      [{ a: undefined }, { b: undefined }],
      [new ExactNumber('1.0'), new ExactNumber('1.00')],
    ]) {
      expect(isSameJson(left, right)).toBe(false);
    }
  });
});
