/** The cell of a grant that ends, in a notebook that others use too. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLegacyAgent } from '../support/http-agent.js';
import { pythonsOf } from '../support/pythons-of.js';
import { ServedHub } from '../support/served-hub.js';

let folder: string;
let hub: ServedHub;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'grants-end-in-notebook-'));
  hub = await ServedHub.start({ args: ['--notebook', join(folder, 'a.ipynb'), '--kernel', 'pyodide'] });
});
afterAll(async () => {
  await hub?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function openAgent(name: string) {
  const { token, id } = await hub.grant('--door', 'agent', '--allow', 'notebook:*');
  const send = await openLegacyAgent(hub, () => token, name);
  const call = async (tool: string, args: JsonObject = {}): Promise<string> =>
    JSON.stringify(await send('tools/call', { name: tool, arguments: args }));
  return { call, revoke: () => hub.run('grant', 'revoke', id) };
}

it('ends with the grant, whatever its code does, and the others are told of the Python that ended with it', {
  tags: ['P-644'],
  timeout: 120_000,
}, async () => {
  const [one, two, three] = [await openAgent('one'), await openAgent('two'), await openAgent('three')];
  await one.call('run_code', { code: 'x = 41' });
  // Its call is answered, and it goes on.
  expect(await one.call('run_code', { code: 'while True: pass', wait_seconds: 0 })).toContain('running');
  await one.revoke();
  // Code that heeds the interrupt leaves the variables to the others.
  await expect.poll(() => two.call('run_code', { code: 'print(x + 1)' }), { timeout: 20_000 }).toContain('42');

  await three.call('get_notebook_info');
  const deaf = 'print("o" + "n")\nwhile True:\n    try:\n        while True: pass\n    except BaseException:\n        pass';
  const pending = two.call('run_code', { code: deaf });
  await expect.poll(() => three.call('get_cells', { includeOutputs: true }), { timeout: 20_000 }).toMatch(/"on\\+n/);
  const there = pythonsOf(hub);
  expect(there.length).toBeGreaterThan(0);
  await two.revoke();
  // An interrupt alone has five seconds.
  await expect.poll(() => pythonsOf(hub).filter((pid) => there.includes(pid)), { timeout: 4000 }).toEqual([]);
  expect(await pending).toContain('was revoked');
  expect(await three.call('get_notebook_info')).toContain('did not end when it was interrupted');
});
