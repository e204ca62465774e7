// @module-tag deep
// @module-tag P-222

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { LabWorkspace } from '../../src/lab/lab-workspace.js';
import { Agent } from './support/agent.js';
import { codeCell, installTimeoutMs, TestLab } from './support/jupyter.js';
import { until } from './support/patient-until.js';

const timeout = 400_000;
let lab: TestLab;

beforeAll(async () => {
  lab = await TestLab.start({ baseUrl: '/user/ann/' });
}, installTimeoutMs);
// A test that has failed may have left it stopped.
beforeEach(async () => {
  if (!lab.isRunning) await lab.run();
}, 300_000);
afterAll(() => lab?.close());

async function agentAt(
  file: string,
  cells: readonly object[] = [codeCell('one', 'a = 1'), codeCell('two', 'b = 2'), codeCell('three', 'c = 3')],
): Promise<Agent> {
  await lab.write(file, cells);
  const agent = await Agent.open(lab.server, file);
  onTestFinished(() => agent.close());
  return agent;
}

const sourcesOf = async (file: string) => (await lab.read(file)).cells.map(({ source }) => [source].flat().join(''));

it('a server that restarts, its room’s store removed: no cell twice, none lost, and edits refused while it is away', {
  timeout,
}, async () => {
  const agent = await agentAt('reset.ipynb');
  await agent.call('run_code', { code: 'kept = 1' });
  await agent.call('update_cell', { cellId: 'one', content: 'a = 11' });
  await until(async () => (await sourcesOf('reset.ipynb'))[0] === 'a = 11');
  await lab.stop();
  await until(async () => (await agent.call('get_notebook_info')).value.live === false);
  const { error } = await agent.call('update_cell', { cellId: 'two', content: 'b = 22' });
  expect(error).toMatchObject({ code: 'server_unreachable', message: expect.stringContaining('Nothing was changed') });
  expect((await agent.cells()).map(({ source }) => source)).toEqual(['a = 11', 'b = 2', 'c = 3', 'kept = 1']);
  await rm(join(lab.folder, '.jupyter_ystore.db'), { force: true });
  const notebook = await lab.read('reset.ipynb');
  notebook.cells.splice(1, 1);
  await writeFile(join(lab.folder, 'reset.ipynb'), JSON.stringify(notebook));
  await lab.run();
  await until(async () => (await agent.call('update_cell', { cellId: 'three', content: 'c = 33' })).error === undefined);
  expect((await agent.cells()).map(({ source }) => source)).toEqual(['a = 11', 'c = 33', 'kept = 1']);
  await until(async () => (await sourcesOf('reset.ipynb')).join() === 'a = 11,c = 33,kept = 1');

  // Its kernel went with it.
  await until(() => agent.notebook.session.kernel.state === 'dead');
  expect((await agent.call('run_code', { code: 'kept' })).error).toMatchObject({ code: 'kernel_dead' });
  expect((await agent.call('restart_kernel')).error).toBeUndefined();
  expect((await agent.call('run_code', { code: 'kept' })).value).toMatchObject({ status: 'error' });
});

it('a server that is killed in the middle of an edit has the edit when it is back, unless it was refused', { timeout }, async () => {
  const agent = await agentAt('killed.ipynb');
  const [answer] = await Promise.all([agent.call('update_cell', { cellId: 'one', content: 'a = "in the middle"' }), lab.stop('SIGKILL')]);
  await lab.run();
  await until(async () => (await agent.call('update_cell', { cellId: 'two', content: 'b = 22' })).error === undefined);
  // Whether it was confirmed or not: unless its answer says that it was not made, it is there.
  expect([undefined, 'server_unreachable']).toContain(answer.error?.code);
  const first = answer.error?.message.includes('Nothing was changed') ? 'a = 1' : 'a = "in the middle"';
  await until(async () => (await sourcesOf('killed.ipynb')).join() === `${first},b = 22,c = 3`);
});

it('a token that is revoked is said, without the token; the server’s own file has the new one', { timeout }, async () => {
  const agent = await agentAt('token.ipynb');
  const workspace = new LabWorkspace({ target: {}, env: { JUPYTER_RUNTIME_DIR: lab.runtimeDir } });
  onTestFinished(() => workspace.close());
  const use = () => workspace.callTool('connect_notebook', { notebook: 'token.ipynb' }, { sessionId: '1' });
  expect((await use()).isError).toBeUndefined();
  await lab.stop();
  const revoked = lab.token;
  await lab.run('another-token-of-the-test');
  const refused = await until(async () => {
    const { error } = await agent.call('update_cell', { cellId: 'one', content: 'a = 2' });
    return error?.message.includes('does not accept the token') ? error : false;
  });
  expect(refused.message).not.toContain(revoked);
  const found = new LabWorkspace({ target: {}, env: { JUPYTER_RUNTIME_DIR: lab.runtimeDir } });
  onTestFinished(() => found.close());
  expect((await found.callTool('connect_notebook', { notebook: 'token.ipynb' }, { sessionId: '1' })).isError).toBeUndefined();
  // The one that was there before learns it too.
  const edit = () => workspace.callTool('update_cell', { cellId: 'one', content: 'a = 3' }, { sessionId: '1' });
  await until(async () => (await edit()).isError === undefined);
});

it('a file that is changed on disk, renamed or deleted under a live notebook', { timeout }, async () => {
  const agent = await agentAt('file.ipynb');
  const notebook = await lab.read('file.ipynb');
  (notebook.cells[0] as { source: string }).source = 'a = "from an editor"';
  await writeFile(join(lab.folder, 'file.ipynb'), JSON.stringify(notebook));
  await until(async () => (await agent.cells())[0]?.source === 'a = "from an editor"');

  await lab.server.request('api/contents/file.ipynb', { method: 'PATCH', body: { path: 'renamed.ipynb' } });
  expect((await agent.call('update_cell', { cellId: 'two', content: 'b = 22' })).error).toBeUndefined();
  await until(async () => (await sourcesOf('renamed.ipynb'))[1] === 'b = 22');
  expect((await agent.call('get_notebook_info')).value).toMatchObject({ path: 'renamed.ipynb', live: true });

  await lab.server.request('api/contents/renamed.ipynb', { method: 'DELETE' });
  const { error } = await agent.call('update_cell', { cellId: 'two', content: 'b = 23' });
  expect(error).toMatchObject({ code: 'no_notebook', message: expect.stringContaining('deleted') });
});

it('folders, missing notebooks and servers are named, never guessed', { timeout }, async () => {
  await mkdir(join(lab.folder, 'deep er'), { recursive: true });
  await lab.write('deep er/ü.ipynb', [codeCell('one', '1')]);
  const workspace = new LabWorkspace({ target: { baseUrl: lab.baseUrl, token: lab.token } });
  onTestFinished(() => workspace.close());
  const call = async (name: string, args: object) => {
    const { content } = await workspace.callTool(name, args, { sessionId: '1' });
    return JSON.parse(content[0]?.type === 'text' ? content[0].text : '{}');
  };
  expect(await call('list_notebooks', { folder: 'deep er' })).toMatchObject({ notebooks: [{ path: 'deep er/ü.ipynb' }], in_use: null });
  expect((await call('connect_notebook', { notebook: 'none.ipynb' })).error).toMatchObject({ code: 'no_notebook' });
  expect((await call('connect_notebook', { notebook: 'x.txt' })).error).toMatchObject({ code: 'bad_arguments' });
  expect((await call('connect_notebook', { notebook: 'http://127.0.0.1:1/lab/tree/a.ipynb' })).error).toMatchObject({
    code: 'no_notebook',
  });
  expect(await call('connect_notebook', { notebook: 'deep er/ü.ipynb' })).toMatchObject({ live: true, cells: 1 });
  expect(await call('run_code', { code: '1 + 1' })).toMatchObject({ status: 'ok' });
  expect(await call('connect_notebook', { notebook: 'new.ipynb', create: true })).toMatchObject({ path: 'new.ipynb', live: true });
  expect((await call('connect_notebook', { notebook: 'new.ipynb', create: true })).error).toMatchObject({ code: 'bad_arguments' });
  const nobody = new LabWorkspace({ target: {}, env: { JUPYTER_RUNTIME_DIR: join(lab.home, 'nothing') } });
  onTestFinished(() => nobody.close());
  const { content } = await nobody.callTool('get_cells', {}, { sessionId: '1' });
  expect(JSON.stringify(content)).toContain('No Jupyter server of yours runs');
});
