// @module-tag P-457

import { describe, expect, test } from 'vitest';
import { parseWritten } from './written-files.js';

const bounds = { maxFiles: 2, maxBytes: 10 };
const parse = (printed: unknown, length = 0) =>
  parseWritten(typeof printed === 'string' ? printed : JSON.stringify(printed), new Uint8Array(length).fill(7), bounds);
const whole = { files: [], leftOut: [], more: 0, unseen: 0 };

test('files come with their bytes, one behind the other, and what is left out by its name', () => {
  const files = [
    ['a.txt', 3],
    ['deep/b', 2],
  ];
  const written = parse({ files, leftOut: [['c', 99, 'bytes']], more: 4, unseen: 5 }, 5);
  expect(written?.files.map(({ path, data }) => [path, [...data]])).toEqual([
    ['a.txt', [7, 7, 7]],
    ['deep/b', [7, 7]],
  ]);
  expect(written).toMatchObject({ leftOut: [{ path: 'c', bytes: 99, why: 'bytes' }], more: 4, unseen: 5 });
});

describe('an answer that is forged is none', () => {
  test.each([
    '',
    '[]',
    'null',
    '{}',
    { ...whole, files: [['../a', 0]] },
    { ...whole, files: [['a/../../b', 0]] },
    { ...whole, files: [['/etc/passwd', 0]] },
    { ...whole, files: [['a//b', 0]] },
    { ...whole, files: [['a\0', 0]] },
    { ...whole, files: [['', 0]] },
    { ...whole, files: [[1, 0]] },
    { ...whole, files: [['x'.repeat(5000), 0]] },
    { ...whole, files: [['a', -1]] },
    { ...whole, files: [['a', 1.5]] },
    { ...whole, files: [['a', 6]] },
    { ...whole, files: [['a', 4]] },
    {
      ...whole,
      files: [
        ['a', 1],
        ['b', 2],
        ['c', 2],
      ],
    },
    { ...whole, files: 'a' },
    { ...whole, leftOut: [['a', 1, 'because']] },
    { ...whole, leftOut: Array.from({ length: 1000 }, () => ['a', 1, 'bytes']) },
    { ...whole, more: 'x' },
    { ...whole, unseen: null },
  ])('number %$', (printed) => {
    expect(parse(printed, 5)).toBeUndefined();
  });

  test('an answer of more bytes than were asked for is none', () => {
    expect(parse({ ...whole, files: [['a', 11]] }, 11)).toBeUndefined();
    expect(parse({ ...whole, files: [['a', 10]] }, 10)).toBeDefined();
  });
});
