// @module-tag deep
// @module-tag P-328

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codeCell, installTimeoutMs, TestLab } from '../../../notebook/test/lab/support/jupyter.js';
import { SharedHome } from '../support/broker.js';
import { callTool } from '../support/call-tool.js';
import { Program } from '../support/program.js';

const timeout = 180_000;
let lab: TestLab;

beforeAll(async () => {
  lab = await TestLab.start();
}, installTimeoutMs);
afterAll(() => lab?.close());

const outputOf = (text: string) => ({ status: 'ok', outputs: [{ text: [`${text}\n`] }] });

it('an agent of a server chooses by path, works in several at once, and beside them in files of its folder', { timeout }, async () => {
  await using home = new SharedHome();
  await mkdir(join(lab.folder, 'deep'), { recursive: true });
  for (const name of ['prices.ipynb', 'deep/work.ipynb']) await lab.write(name, [codeCell('one', `# ${name}`)]);
  const folder = join(home.folder, 'own');
  await mkdir(folder);
  const env = { ...home.env, JUPYTER_RUNTIME_DIR: lab.runtimeDir };
  await using first = await Program.open({ args: ['--notebook', 'jupyter'], env, cwd: folder, name: 'First' });
  expect(await callTool(first, 'get_cells')).toMatchObject({
    error: { code: 'no_notebook', message: expect.stringContaining('connect_notebook') },
  });
  expect(await callTool(first, 'get_cells', { notebook: 'nb9' })).toMatchObject({
    text: expect.stringContaining('No notebook "nb9" is open'),
  });
  expect(await callTool(first, 'list_notebooks', { folder: 'deep' })).toMatchObject({
    notebooks: [],
    jupyter: { server: lab.baseUrl, notebooks: [{ path: 'deep/work.ipynb' }] },
  });
  const [prices, work] = [
    await callTool(first, 'connect_notebook', { notebook: 'prices.ipynb' }),
    await callTool(first, 'connect_notebook', { notebook: lab.url('deep/work.ipynb') }),
  ];
  expect([prices, work]).toMatchObject([
    { status: 'connected', kind: 'jupyter', location: `${lab.baseUrl}lab/tree/prices.ipynb` },
    { status: 'connected', kind: 'jupyter', location: `${lab.baseUrl}lab/tree/deep/work.ipynb`, selected: true },
  ]);
  expect(await callTool(first, 'run_code', { code: 'x = 6', notebook: prices.id ?? '' })).toMatchObject({ status: 'ok' });
  expect(await callTool(first, 'run_code', { code: 'x = 7; print(x)' })).toMatchObject(outputOf('7'));
  expect(await callTool(first, 'run_code', { code: 'print(x)', notebook: prices.id ?? '' })).toMatchObject(outputOf('6'));
  // A new one is made on the server; a file of the folder is opened by its path there.
  expect(await callTool(first, 'connect_notebook', { notebook: 'made.ipynb', create: true })).toMatchObject({ kind: 'jupyter' });
  expect(await callTool(first, 'connect_notebook', { notebook: join(folder, 'mine.ipynb'), create: true })).toMatchObject({
    kind: 'built-in',
  });
  expect(await callTool(first, 'connect_notebook', { notebook: 'nowhere.ipynb' })).toMatchObject({
    text: expect.stringContaining(`${lab.baseUrl} has no notebook "nowhere.ipynb"`),
  });
  const { notebooks } = (await callTool(first, 'list_notebooks')) as { notebooks: { kind: string; connected: boolean }[] };
  expect(notebooks.map(({ kind, connected }) => `${kind} ${connected}`).sort()).toEqual([
    'built-in true',
    'jupyter true',
    'jupyter true',
    'jupyter true',
  ]);

  await using second = await Program.open({ args: ['--notebook', 'jupyter'], env, cwd: folder, name: 'Second' });
  expect(await callTool(second, 'connect_notebook', { notebook: 'prices.ipynb' })).toMatchObject({ id: prices.id ?? '', holder: 'First' });
  expect(await callTool(second, 'run_code', { code: 'x' })).toMatchObject({
    text: expect.stringContaining('Another agent, "First", holds this notebook'),
  });
  for (const notebook of notebooks as unknown as { id: string }[]) await callTool(first, 'disconnect_notebook', { notebook: notebook.id });
  expect(await callTool(first, 'get_cells')).toMatchObject({ error: { code: 'no_notebook' } });
  await expect.poll(() => callTool(second, 'run_code', { code: 'print(x)' })).toMatchObject(outputOf('6'));
});

it('a server that is started after its agent is found by the next call', { timeout }, async () => {
  await using home = new SharedHome();
  await lab.write('late.ipynb', [codeCell('one', 'a = 1')]);
  await lab.stop();
  const env = { ...home.env, JUPYTER_RUNTIME_DIR: lab.runtimeDir };
  await using program = await Program.open({ args: ['--notebook', 'jupyter=late.ipynb'], env, cwd: lab.folder });
  const { tools } = (await program.request('tools/list')).result as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['run_code_cell', 'connect_notebook']));
  expect(await callTool(program, 'get_cells')).toMatchObject({
    error: { code: 'no_notebook', message: expect.stringContaining('jupyter lab') },
  });
  await lab.run();
  expect(await callTool(program, 'get_notebook_info')).toMatchObject({ server: lab.baseUrl, path: 'late.ipynb' });
});

it('an agent of a file makes a notebook on a server by its address, and a file that is open in the server is that one', {
  timeout,
  tags: ['P-335'],
}, async () => {
  await using home = new SharedHome();
  const env = { ...home.env, JUPYTER_RUNTIME_DIR: lab.runtimeDir };
  await lab.write('both.ipynb', [codeCell('one', 'a = 1')]);
  await using agent = await Program.open({ args: ['--notebook', home.path('own.ipynb')], env, cwd: lab.folder });
  const server = await callTool(agent, 'connect_notebook', { notebook: lab.url('fresh.ipynb'), create: true });
  expect(server).toMatchObject({ status: 'connected', kind: 'jupyter', location: `${lab.baseUrl}lab/tree/fresh.ipynb` });
  expect(await callTool(agent, 'connect_notebook', { notebook: lab.url('none/fresh.ipynb'), create: true })).toMatchObject({
    text: expect.stringContaining('has no folder "none"'),
  });
  const both = await callTool(agent, 'connect_notebook', { notebook: lab.url('both.ipynb') });
  // The agent was started in the server's folder: that file, by its path, is the notebook of the server.
  expect(await callTool(agent, 'connect_notebook', { notebook: 'both.ipynb' })).toMatchObject({ id: both.id ?? '', kind: 'jupyter' });
  // A run is found by its id, wherever it goes on.
  const begun = await callTool(agent, 'run_code', { code: 'import time\ntime.sleep(100)', wait_seconds: 0 });
  await callTool(agent, 'connect_notebook', { notebook: String(server.id) });
  expect(await callTool(agent, 'get_run', { run_id: begun.run_id ?? '', wait_seconds: 0 })).toMatchObject({
    run_id: begun.run_id,
    status: 'running',
  });
  // Its kernel may not have started yet, and a busy machine may need more than the 5 s for which interrupt_run waits.
  await callTool(agent, 'interrupt_run', { run_id: begun.run_id ?? '' });
  expect(await callTool(agent, 'get_run', { run_id: begun.run_id ?? '', wait_seconds: 25 })).toMatchObject({
    status: expect.stringMatching(/^(interrupted|cancelled)$/),
  });
  expect(await callTool(agent, 'get_run', { run_id: 'none-1' })).toMatchObject({ error: { code: 'unknown_run' } });
});
