// @module-tag P-200

import { expect, test } from 'vitest';
import { parseReport } from './messages.js';

test.each(['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', '', 1, null, ['ready'], { toString: 1 }])(
  'a forged report of the type %j is none, and throws nothing',
  (type) => {
    expect(
      parseReport(JSON.parse(JSON.stringify({ version: '3', reason: 'x' }).replace('{', `{"type":${JSON.stringify(type)},`))),
    ).toBeUndefined();
  },
);

test('a report as deep as a stack is none, and one as deep as a picture is one', () => {
  const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
  const report = (depth: number) => ({
    type: 'output',
    count: 1,
    characters: 1,
    output: { output_type: 'display_data', data: { 'application/json': nested(depth) }, metadata: {} },
  });
  expect(parseReport(report(5000))).toBeUndefined();
  expect(parseReport(report(100))).toBeDefined();
});
