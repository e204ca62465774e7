// @module-tag deep
// @module-tag P-669

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pythonWith, runPython } from '../../../../scripts/python-env.mjs';
import { expectedLists, startOddHub } from '../support/odd-hub.js';
import { programFile } from '../support/program.js';
import type { ServedHub } from '../support/served-hub.js';

let hub: ServedHub;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ hub, close } = await startOddHub());
});
afterAll(() => close());

it.each([
  { version: 1, environment: 'older' },
  { version: 2, environment: 'agents' },
])('servers with odd entries in all lists cost the SDK for Python, version $version, those entries alone', async ({ environment }) => {
  const python = await pythonWith(['mcp'], { environment });
  const client = fileURLToPath(new URL('../fixtures/clients/all_lists.py', import.meta.url));
  const program = [process.execPath, programFile, '--standalone', '--config', hub.configFile, '--notebook', 'none'];
  const variables = Object.entries(hub.env).map(([name, value]) => `${name}=${value}`);
  const printed = await runPython(python, [client, 'env', 'odd__output-broken-pattern', '-i', ...variables, ...program]);
  const report = JSON.parse(printed) as Record<string, unknown>;
  expect(report).toEqual({ ...expectedLists, answer: 'output-broken-pattern' });
});
