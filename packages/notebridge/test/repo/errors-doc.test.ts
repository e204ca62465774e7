// @module-tag P-017

import { readFileSync } from 'node:fs';
import { notebookErrors } from '@notebridge/notebook';
import { errorTable } from '@notebridge/protocol/core/errors';
import { expect, it } from 'vitest';

const [ofHub = '', ofNotebook = ''] = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8').split(
  '## Of the tools of a notebook',
);
const rowsOf = (text: string) => text.split('\n').filter((line) => line.startsWith('| `'));

it('docs/errors.md has exactly the rows of the error table', () => {
  const rows = rowsOf(ofHub);
  const wanted = Object.entries(errorTable).map(
    ([code, { rpcCode, meaning, next }]) => `| \`${code}\` | ${rpcCode} | ${meaning} | ${next} |`,
  );
  expect(rows).toEqual(wanted);
});

it('the table lists every error of the notebook', () => {
  expect(rowsOf(ofNotebook)).toEqual(
    Object.entries(notebookErrors).map(([code, { meaning, next }]) => `| \`${code}\` | ${meaning} | ${next} |`),
  );
});

it('keeps our own codes out of the range that the protocol reserves', () => {
  const jsonRpcAndSpec = [-32700, -32600, -32601, -32602, -32603, -32021, -32022];
  for (const { rpcCode } of Object.values(errorTable)) {
    if (jsonRpcAndSpec.includes(rpcCode)) continue;
    expect(rpcCode).toBeLessThanOrEqual(-32000);
    expect(rpcCode).toBeGreaterThanOrEqual(-32019);
    // -32002 is "resource not found" in the legacy era.
    expect(rpcCode).not.toBe(-32002);
  }
});
