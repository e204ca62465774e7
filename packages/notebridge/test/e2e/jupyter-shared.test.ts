// @module-tag deep
// @module-tag P-302
// @module-tag P-325

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codeCell, installTimeoutMs, TestLab } from '../../../notebook/test/lab/support/jupyter.js';
import { SharedHome, until } from '../support/broker.js';
import { callTool } from '../support/call-tool.js';
import { Program, runProgram } from '../support/program.js';

const timeout = 180_000;
let lab: TestLab;

beforeAll(async () => {
  lab = await TestLab.start();
}, installTimeoutMs);
afterAll(() => lab?.close());

/** An error of the protocol as it is, so that a test that fails shows it. */
const textOf = ({ result, ...rest }: JsonObject): string =>
  (result as { content: { text: string }[] } | undefined)?.content[0]?.text ?? JSON.stringify(rest);
const heldBy = (name: string) => expect.stringContaining(`Another agent, "${name}", holds this notebook`);

/** All that stands in files below a folder. */
function filesBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
}

it('two agents have one notebook of a server, one of them writes, and a run goes on when its agent is killed', {
  timeout,
  tags: ['P-298', 'P-301'],
}, async () => {
  await using home = new SharedHome();
  await lab.write('shared.ipynb', [codeCell('one', 'a = 1')]);
  const env = { ...home.env, JUPYTER_RUNTIME_DIR: lab.runtimeDir };
  const first = await Program.open({ args: ['--notebook', `jupyter=${lab.url('shared.ipynb')}`], env, name: 'First' });
  expect(await callTool(first, 'get_notebook_info')).toMatchObject({ path: 'shared.ipynb', live: true, cells: 1 });
  expect(await callTool(first, 'run_code', { code: 'x = 41; x' })).toMatchObject({ status: 'ok' });
  // By its file: the same notebook.
  await using second = await Program.open({ args: ['--notebook', 'jupyter=shared.ipynb'], env, cwd: lab.folder, name: 'Second' });
  expect(await callTool(second, 'get_notebook_info')).toMatchObject({ path: 'shared.ipynb', cells: 2 });
  expect(textOf(await second.callTool('run_code', { code: 'x' }))).toEqual(heldBy('First'));
  expect(textOf(await second.callTool('take_over'))).toMatch(/Nobody can be asked.*no window and no page here/);
  const { stdout } = await runProgram(['ps', '--json'], { env });
  const location = `${lab.baseUrl}lab/tree/shared.ipynb`;
  expect(JSON.parse(stdout)).toMatchObject({
    hosts: [{ kind: 'broker', notebooks: [{ file: location, agents: ['First', 'Second'], holder: 'First' }] }],
  });
  const begun = await callTool(first, 'run_code', { code: 'import time\nprint("begun")\ntime.sleep(4)\nprint("done")', wait_seconds: 0 });
  first.child.kill('SIGKILL');
  await first.close();
  const ended = await callTool(second, 'get_run', { run_id: begun.run_id ?? '', wait_seconds: 40 });
  expect(ended).toMatchObject({ status: 'ok', outputs: [{ text: ['begun\n', 'done\n'] }] });
  expect(await callTool(second, 'run_code', { code: 'print(x + 1)' })).toMatchObject({ outputs: [{ text: ['42\n'] }] });
  await until(async () => JSON.stringify(await lab.read('shared.ipynb')).includes('x + 1'));
  // A person copies its address from `ps`, or from the browser.
  const { hostname } = new URL(location);
  const otherName = location.replace(hostname, hostname === 'localhost' ? '127.0.0.1' : 'localhost');
  expect(await runProgram(['release', `${otherName}?token=${lab.token}`], { env })).toMatchObject({
    stdout: expect.stringMatching(/"Second" holds it no more/),
  });
  await callTool(second, 'run_code', { code: 'time.sleep(60)', wait_seconds: 0 });
  expect(await runProgram(['stop', location], { env })).toMatchObject({
    stdout: `Ended: nb1 ${location} (a run of "Second" goes on there)\n`,
  });
  // The token came over the link, and stands nowhere.
  expect(filesBelow(home.folder)).not.toContain(lab.token);
  expect(stdout + second.stderr).not.toContain(lab.token);
});

it('notebooks of one server are entries of their own, each with its holder; the broker may be killed', {
  timeout,
  tags: ['P-301'],
}, async () => {
  await using home = new SharedHome();
  for (const name of ['left', 'right']) await lab.write(`${name}.ipynb`, [codeCell('one', `"${name}"`)]);
  const env = { ...home.env, JUPYTER_TOKEN: lab.token };
  const open = (name: string) => Program.open({ args: ['--notebook', `jupyter=${lab.url(`${name}.ipynb`)}`], env, name });
  await using left = await open('left');
  await using right = await open('right');
  for (const [agent, name] of [
    [left, 'left'],
    [right, 'right'],
  ] as const) {
    expect(await callTool(agent, 'run_code', { code: `me = "${name}"; me` })).toMatchObject({ status: 'ok' });
    expect(await callTool(agent, 'get_notebook_info')).toMatchObject({ path: `${name}.ipynb` });
  }
  const { stdout } = await runProgram(['ps', '--json'], { env });
  const [{ notebooks }] = JSON.parse(stdout).hosts;
  expect(notebooks.map(({ id, holder }: JsonObject) => [id, holder])).toEqual([
    ['nb1', 'left'],
    ['nb2', 'right'],
  ]);
  process.kill(home.broker?.pid ?? 0, 'SIGKILL');
  // The kernel is the server's: its variables are there still.
  await until(async () => textOf(await left.callTool('get_notebook_info')).includes('left.ipynb'));
  expect(await callTool(left, 'run_code', { code: 'me' })).toMatchObject({ outputs: [{ data: { 'text/plain': ["'left'"] } }] });
  expect(filesBelow(home.folder)).not.toContain(lab.token);
});

it('says what keeps the notebook from opening, and opens it when that has passed', { timeout }, async () => {
  await using home = new SharedHome();
  const env = { ...home.env, JUPYTER_TOKEN: lab.token };
  await using agent = await Program.open({ args: ['--notebook', `jupyter=${lab.url('later.ipynb')}`], env });
  expect(await agent.callTool('get_cells')).toMatchObject({ error: { message: expect.stringContaining('later.ipynb') } });
  await lab.write('later.ipynb', [codeCell('one', 'a = 1')]);
  expect(await callTool(agent, 'get_cells')).toMatchObject({ cells: [{ id: 'one' }] });
});
