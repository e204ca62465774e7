// @module-tag P-224

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../../notebook/test/host/support/until.js';
import { codeCell, installTimeoutMs, TestLab } from '../../../notebook/test/lab/support/jupyter.js';
import { Program } from '../support/program.js';

const timeout = 240_000;
let lab: TestLab;

beforeAll(async () => {
  lab = await TestLab.start();
}, installTimeoutMs);
afterAll(() => lab?.close());

const env = () => ({ JUPYTER_RUNTIME_DIR: lab.runtimeDir });

async function call(program: Program, name: string, args: JsonObject = {}): Promise<JsonObject> {
  const { result } = (await program.callTool(name, args)) as { result: { content: { text: string }[] } };
  return JSON.parse(result.content[0]?.text ?? '{}');
}

it('finds the server of this user, lists its notebooks, works in the one that is chosen, and shows no token', { timeout }, async () => {
  await lab.write('found.ipynb', [codeCell('one', 'a = 1')]);
  await using program = await Program.open({ args: ['--notebook', 'jupyter', '--log-level', 'debug'], env: env() });
  const list = await program.request('tools/list');
  const names = (list.result as { tools: { name: string }[] }).tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['run_code', 'get_cells', 'undo_last_change', 'list_notebooks', 'connect_notebook']));
  expect(JSON.stringify(list.result).length).toBeLessThanOrEqual(12_000);
  const none = await call(program, 'run_code', { code: '1' });
  expect(none).toMatchObject({ error: { code: 'no_notebook', notebooks: expect.arrayContaining(['found.ipynb']) } });
  expect(await call(program, 'list_notebooks')).toMatchObject({
    notebooks: [],
    jupyter: { server: lab.baseUrl, notebooks: expect.arrayContaining([expect.objectContaining({ path: 'found.ipynb' })]) },
  });
  expect(await call(program, 'connect_notebook', { notebook: 'found.ipynb' })).toMatchObject({
    status: 'connected',
    kind: 'jupyter',
    location: `${lab.baseUrl}lab/tree/found.ipynb`,
    selected: true,
  });
  expect(await call(program, 'run_code', { code: 'import os; os.getcwd()' })).toMatchObject({
    status: 'ok',
    outputs: [{ data: { 'text/plain': [expect.stringContaining(lab.folder)] } }],
  });
  expect(await call(program, 'get_notebook_info')).toMatchObject({ server: lab.baseUrl, path: 'found.ipynb', live: true });
  expect(await program.close()).toBe(0);
  const logs = join(program.home, 'state/notebridge/logs');
  const logged = await Promise.all((await readdir(logs).catch(() => [])).map((name) => readFile(join(logs, name), 'utf8')));
  expect(logged.join('') + program.stderr).not.toContain(lab.token);
  await until(async () => (await lab.read('found.ipynb')).cells.length === 2, 60_000);
});

it('takes the address of a notebook as the browser shows it, or its file', { timeout, tags: ['deep'] }, async () => {
  await mkdir(join(lab.folder, 'a folder'), { recursive: true });
  await lab.write('a folder/named.ipynb', [codeCell('one', 'a = 1')]);
  const address = `${lab.baseUrl}lab/workspaces/auto-x/tree/a%20folder/named.ipynb?token=${lab.token}`;
  await using byAddress = await Program.open({ args: ['--notebook', `jupyter=${address}`] });
  expect(await call(byAddress, 'get_notebook_info')).toMatchObject({ path: 'a folder/named.ipynb', live: true, cells: 1 });
  await using byFile = await Program.open({ args: ['--notebook', 'jupyter=a folder/named.ipynb'], env: env(), cwd: lab.folder });
  expect(await call(byFile, 'add_text_cell', { cellIndex: 1, content: 'by file' })).toHaveProperty('newCellId');
  await until(async () => JSON.stringify(await call(byAddress, 'get_cells')).includes('by file'));
  await using byEnvironment = await Program.open({ args: ['--notebook', `jupyter=${lab.baseUrl}`], env: { JUPYTER_TOKEN: lab.token } });
  expect(await call(byEnvironment, 'list_notebooks')).toHaveProperty('jupyter.notebooks');
  expect(await call(byEnvironment, 'connect_notebook', { notebook: 'a folder/named.ipynb' })).toMatchObject({ status: 'connected' });
  expect(await call(byEnvironment, 'get_notebook_info')).toMatchObject({ path: 'a folder/named.ipynb', live: true });
  await using without = await Program.open({ args: ['--notebook', `jupyter=${lab.baseUrl}`] });
  expect(await call(without, 'list_notebooks')).toMatchObject({ jupyter: { error: expect.stringContaining('JUPYTER_TOKEN') } });
  expect(await call(without, 'get_cells')).toMatchObject({
    error: { code: 'server_refused', message: expect.stringContaining('JUPYTER_TOKEN') },
  });
});

it('no server is guessed where there are several', { timeout, tags: ['deep', 'P-328'] }, async () => {
  const second = { url: 'http://127.0.0.1:9/', pid: process.pid, token: 'some-other-token', root_dir: '/elsewhere', sock: '' };
  const file = join(lab.runtimeDir, `jpserver-${process.pid}.json`);
  await writeFile(file, JSON.stringify(second));
  try {
    await using program = await Program.open({ args: ['--notebook', 'jupyter'], env: env() });
    const { error } = (await call(program, 'get_cells')) as { error: { message: string; servers: string[] } };
    expect(error.servers.sort()).toEqual([lab.baseUrl, 'http://127.0.0.1:9/'].sort());
    expect(error.message).toContain('/elsewhere');
    expect(await call(program, 'list_notebooks')).toMatchObject({ jupyter: { error: expect.stringContaining('/elsewhere') } });
    expect(await call(program, 'list_notebooks', { server: lab.baseUrl })).toMatchObject({
      jupyter: { server: lab.baseUrl, other_servers: [{ server: 'http://127.0.0.1:9/' }] },
    });
    await lab.write('several.ipynb', [codeCell('one', 'a = 1')]);
    const refused = JSON.stringify((await program.callTool('connect_notebook', { notebook: 'several.ipynb' })).result);
    expect(refused).toContain('Several Jupyter servers of yours run');
    expect(await call(program, 'connect_notebook', { notebook: lab.url('several.ipynb') })).toMatchObject({ status: 'connected' });
  } finally {
    await rm(file);
  }
});

it.each(['jupyter=ftp://x/lab', 'jupyter=nothing', 'jupyter=http://127.0.0.1:8000/hub/home'])(
  'refuses %s before anything is opened',
  { timeout },
  async (notebook) => {
    await using program = new Program({ args: ['--notebook', notebook] });
    expect(await program.ended).toBe(2);
    expect(program.stderr).toContain('no address of a Jupyter server');
  },
);

it('a notebook that is open in JupyterLab and in the built-in notebook at once has the edits of both', {
  tags: ['deep'],
  timeout,
}, async () => {
  await lab.write('two.ipynb', [codeCell('one', 'a = 1'), codeCell('two', 'b = 2')]);
  await using inLab = await Program.open({ args: ['--notebook', `jupyter=${lab.url('two.ipynb')}`] });
  await using builtIn = await Program.open({ args: ['--notebook', join(lab.folder, 'two.ipynb')] });
  await call(inLab, 'get_cells');
  expect(await call(inLab, 'update_cell', { cellId: 'one', content: 'a = "lab"' })).toEqual({});
  await until(async () => JSON.stringify(await call(builtIn, 'get_cells')).includes('\\"lab\\"'), 60_000);
  expect(await call(builtIn, 'update_cell', { cellId: 'two', content: 'b = "built in"' })).toEqual({});
  await until(async () => JSON.stringify(await call(inLab, 'get_cells')).includes('built in'), 60_000);
  const { cells } = (await call(inLab, 'get_cells')) as { cells: { id: string; source: string[] }[] };
  expect(cells.map(({ id, source }) => [id, source.join('')])).toEqual([
    ['one', 'a = "lab"'],
    ['two', 'b = "built in"'],
  ]);
});

it('a run whose process was killed is answered with what is known: whether its kernel still runs code', {
  timeout,
  tags: ['deep', 'P-310'],
}, async () => {
  await lab.write('killed.ipynb', [
    codeCell('one', 'import os, time\nkept = 41\nprint("on")\nwhile not os.path.exists("go"): time.sleep(0.1)'),
  ]);
  const open = async (): Promise<Program> => {
    const program = await Program.open({ args: ['--notebook', 'jupyter', '--standalone'], env: env() });
    expect(await call(program, 'connect_notebook', { notebook: 'killed.ipynb' })).toMatchObject({ path: 'killed.ipynb', live: true });
    return program;
  };
  const first = await open();
  const [cell] = (await call(first, 'get_cells')).cells as { id: string }[];
  const { run_id } = await call(first, 'run_code_cell', { cellId: cell?.id, wait_seconds: 0 });
  expect(await call(first, 'get_run', { run_id, wait_for: 'output' })).toMatchObject({ status: 'running', outputs: [{ text: ['on\n'] }] });
  first.child.kill('SIGKILL');
  await first.close();
  await using second = await open();
  expect(await call(second, 'get_run', { run_id })).toMatchObject({
    error: { code: 'unknown_run', message: expect.stringMatching(/what became of the run is unknown.*runs code just now/s) },
  });
  await writeFile(join(lab.folder, 'go'), '');
  const known = async () => ((await call(second, 'get_run', { run_id })).error as JsonObject).message;
  await expect.poll(known).toMatch(/runs nothing now/);
  expect(await call(second, 'run_code', { code: 'kept + 1' })).toMatchObject({ outputs: [{ data: { 'text/plain': ['42'] } }] });
});
