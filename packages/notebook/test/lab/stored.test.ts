// @module-tag deep
// @module-tag P-223

import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { JupyterServer } from '../../src/lab/jupyter-server.js';
import { findKernelSession } from '../../src/lab/kernel-sessions.js';
import { Agent } from './support/agent.js';
import { codeCell, installTimeoutMs, TestLab } from './support/jupyter.js';
import { labAlone } from './support/lab-alone.js';
import { until } from './support/patient-until.js';
import { hasBrowser, Person, withoutBrowser } from './support/person.js';

const timeout = 400_000;
let lab: TestLab;
let browser: Browser | undefined;

beforeAll(async () => {
  lab = await TestLab.start({ python: labAlone });
  if (hasBrowser) browser = await openChromium();
}, installTimeoutMs);
afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

async function agentAt(file: string): Promise<Agent> {
  await lab.write(file, [codeCell('one', 'a = 1'), codeCell('two', 'b = 2')]);
  const agent = await Agent.open(lab.server, file);
  onTestFinished(() => agent.close());
  return agent;
}

const sourcesOf = async (file: string) => (await lab.read(file)).cells.map(({ source }) => [source].flat().join(''));

async function changeOnDisk(file: string, change: (cells: { source: unknown }[]) => void): Promise<void> {
  const notebook = await lab.read(file);
  change(notebook.cells);
  await writeFile(join(lab.folder, file), JSON.stringify(notebook));
}

it('#96: an edit, a run and an undo are in the file when the answer comes, with the same cell ids', { timeout }, async () => {
  const agent = await agentAt('edit.ipynb');
  expect((await agent.call('get_notebook_info')).value).toMatchObject({ path: 'edit.ipynb', live: false, server: lab.baseUrl });
  await agent.call('update_cell', { cellId: 'one', content: 'a = 10' });
  expect(await sourcesOf('edit.ipynb')).toEqual(['a = 10', 'b = 2']);
  const { value } = await agent.call('run_code', { code: 'print("out")\n6 * 7' });
  expect(value).toMatchObject({ status: 'ok', outputs: [{ text: ['out\n'] }, { data: { 'text/plain': ['42'] } }] });
  const { cells } = await lab.read('edit.ipynb');
  expect(cells.map(({ id }) => id)).toEqual(['one', 'two', value.newCellId]);
  expect(cells[2]?.outputs).toHaveLength(2);
  // The run took the place of the last edit in the journal.
  await agent.call('undo_last_change');
  await agent.call('undo_last_change');
  expect(await sourcesOf('edit.ipynb')).toEqual(['a = 1', 'b = 2']);
});

it('a file changes only where it was edited, and is what it was after an undo', { timeout, tags: ['P-656'] }, async () => {
  const path = join(lab.folder, 'form.ipynb');
  const { id: _, ...code } = codeCell('', 'x = 1');
  const notebook = { nbformat: 4, nbformat_minor: 2, metadata: { colab: {} }, cells: [{ ...code, source: ['é <b>'] }, code] };
  const text = JSON.stringify(notebook, null, 2).replaceAll('\n', '\r\n').replace('é <b>', '\\u00e9 \\u003cb>');
  await writeFile(path, text);
  const agent = await Agent.open(lab.server, 'form.ipynb');
  onTestFinished(() => agent.close());
  const [, second] = await agent.cells();
  await agent.call('update_cell', { cellId: second?.id, content: 'x = 10' });
  expect(await readFile(path, 'utf8')).toBe(text.replace(/x = 1(?=")/, 'x = 10'));
  expect((await agent.cells())[1]?.id).toBe(second?.id);
  await agent.call('undo_last_change');
  expect(await readFile(path, 'utf8')).toBe(text);
});

it('a file of nbformat 3 is kept beside the one that takes its place; what jupytext pairs the server prints, which is said', {
  timeout,
  tags: ['P-654', 'P-656'],
}, async () => {
  const oldCell = { cell_type: 'code', input: ['x = 1'], language: 'python', metadata: {}, outputs: [] };
  const old = JSON.stringify({ metadata: {}, nbformat: 3, nbformat_minor: 0, worksheets: [{ cells: [oldCell], metadata: {} }] });
  await writeFile(join(lab.folder, 'old.ipynb'), old);
  const agent = await Agent.open(lab.server, 'old.ipynb');
  onTestFinished(() => agent.close());
  await agent.call('update_cell', { cellId: (await agent.cells())[0]?.id, content: 'x = 2' });
  expect(await sourcesOf('old.ipynb')).toEqual(['x = 2']);
  expect(await readFile(join(lab.folder, 'old.v3.ipynb'), 'utf8')).toBe(old);
  const paired = { cells: [codeCell('one', 'a')], metadata: { jupytext: { formats: 'ipynb,py:percent' } }, nbformat: 4, nbformat_minor: 5 };
  await writeFile(join(lab.folder, 'paired.ipynb'), JSON.stringify(paired));
  const other = await Agent.open(lab.server, 'paired.ipynb');
  onTestFinished(() => other.close());
  expect((await other.call('get_notebook_info')).value).toMatchObject({ file_note: expect.stringContaining('jupytext') });
  await other.call('update_cell', { cellId: 'one', content: 'b' });
  expect(await sourcesOf('paired.ipynb')).toEqual(['b']);
});

it('outputs are in the file while a cell runs', { timeout }, async () => {
  const agent = await agentAt('long.ipynb');
  const code = 'import pathlib, time\nprint("begun", flush=True)\nwhile not pathlib.Path("go").exists(): time.sleep(0.05)';
  const running = agent.call('run_code', { code });
  await until(async () => JSON.stringify((await lab.read('long.ipynb')).cells[2]?.outputs ?? []).includes('begun'));
  await writeFile(join(lab.folder, 'go'), '');
  expect((await running).value).toMatchObject({ status: 'ok' });
});

it('#146: what another program wrote is never overwritten: the edit is refused, says what changed, and can be made then', {
  timeout,
}, async () => {
  const agent = await agentAt('other.ipynb');
  const [one, two] = await agent.cells();
  await changeOnDisk('other.ipynb', (cells) => {
    (cells[0] as { source: string }).source = 'a = "theirs"';
  });
  const { error } = await agent.call('update_cell', { cellId: 'one', content: 'a = "ours"', expected_rev: one?.rev });
  expect(error).toMatchObject({ code: 'stale_cell', currentSource: 'a = "theirs"' });
  expect(await sourcesOf('other.ipynb')).toEqual(['a = "theirs"', 'b = 2']);
  expect((await agent.cells())[0]?.source).toBe('a = "theirs"');
  expect((await agent.call('update_cell', { cellId: 'two', content: 'b = "ours"', expected_rev: two?.rev })).error).toBeUndefined();
  expect(await sourcesOf('other.ipynb')).toEqual(['a = "theirs"', 'b = "ours"']);
});

it('a change that another program wrote while a cell ran is joined with its outputs', { timeout }, async () => {
  const agent = await agentAt('joined.ipynb');
  const code = 'import pathlib, time\nwhile not pathlib.Path("joined").exists(): time.sleep(0.05)\nprint("end")';
  const running = agent.call('run_code', { code });
  await until(() => agent.notebook.session.running?.state === 'running' && agent.notebook.session.kernel.state === 'busy');
  await until(async () => (await lab.read('joined.ipynb')).cells.length === 3);
  await changeOnDisk('joined.ipynb', (cells) => {
    (cells[0] as { source: string }).source = 'a = "theirs"';
  });
  await writeFile(join(lab.folder, 'joined'), '');
  await running;
  const { cells } = await lab.read('joined.ipynb');
  expect(cells.map(({ source }) => [source].flat().join(''))).toEqual(['a = "theirs"', 'b = 2', code]);
  expect(JSON.stringify(cells[2]?.outputs)).toContain('end');
});

it('a change that another program wrote right behind our own writing, before the server has answered, is joined too', {
  timeout,
}, async () => {
  await lab.write('behind.ipynb', [codeCell('one', 'a = 1'), codeCell('two', 'b = 2')]);
  let isTheirTurn = false;
  const server = await detourTo(async () => {
    if (!isTheirTurn) return;
    isTheirTurn = false;
    await changeOnDisk('behind.ipynb', (cells) => {
      (cells[0] as { source: string }).source = 'a = "theirs"';
    });
  });
  const agent = await Agent.open(server, 'behind.ipynb');
  onTestFinished(() => agent.close());
  isTheirTurn = true;
  const { error } = await agent.call('update_cell', { cellId: 'two', content: 'b = "ours"' });
  expect(error).toMatchObject({ code: 'changed_elsewhere', changes: ['cell "one" has changed'] });
  expect((await agent.call('update_cell', { cellId: 'two', content: 'b = "ours again"' })).error).toBeUndefined();
  expect(await sourcesOf('behind.ipynb')).toEqual(['a = "theirs"', 'b = "ours again"']);
});

it('a file that is gone is said', { timeout }, async () => {
  const agent = await agentAt('gone.ipynb');
  await rm(join(lab.folder, 'gone.ipynb'));
  expect((await agent.call('update_cell', { cellId: 'one', content: 'a = 2' })).error).toMatchObject({ code: 'no_notebook' });
  await lab.write('gone.ipynb', [codeCell('one', 'a = "back"')]);
});

it('a notebook that a person has open is edited only after their yes', { ...drivesBrowser, timeout }, async ({ skip }) => {
  skip(browser === undefined, withoutBrowser);
  await lab.write('open.ipynb', [codeCell('one', 'a = 1')]);
  const person = await Person.open(browser as Browser, lab);
  onTestFinished(() => person.close());
  await person.show('open.ipynb');
  await until(() => findKernelSession(lab.server, 'open.ipynb'));
  const agent = await Agent.open(lab.server, 'open.ipynb');
  onTestFinished(() => agent.close());
  expect((await agent.call('update_cell', { cellId: 'one', content: 'a = 2' })).error).toMatchObject({
    code: 'ask_person',
    message: expect.stringContaining('allow_edits'),
  });
  expect((await agent.call('run_code', { code: 'a' })).error).toMatchObject({ code: 'ask_person' });
  expect(await sourcesOf('open.ipynb')).toEqual(['a = 1']);
  agent.notebook.allowEdits = true;
  expect((await agent.call('update_cell', { cellId: 'one', content: 'a = 2' })).error).toBeUndefined();
  expect(await sourcesOf('open.ipynb')).toEqual(['a = 2']);
  // The same kernel as theirs; a tab without edits of its own may have read the file again.
  await person.runCell(0);
  await until(async () => ['1', '2'].includes((await agent.call('run_code', { code: 'a' })).value.outputs?.[0]?.data?.['text/plain']?.[0]));
});

/** A way to the server on which something happens when a file is written, and before the answer tells how it is then. */
async function detourTo(written: () => Promise<void>): Promise<JupyterServer> {
  const { baseUrl, token } = lab;
  const headers = { authorization: `token ${token}`, 'content-type': 'application/json' };
  const detour = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', baseUrl);
    const body = request.method === 'PUT' ? Buffer.concat(await request.toArray()) : undefined;
    let answer = await fetch(url, { method: request.method ?? 'GET', headers, ...(body ? { body } : {}) });
    if (body) {
      await written();
      answer = await fetch(`${url.origin}${url.pathname}?content=0`, { headers });
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => detour.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void detour.close(() => resolve()).closeAllConnections()));
  const { port } = detour.address() as AddressInfo;
  return new JupyterServer({ baseUrl: `http://127.0.0.1:${port}/`, token });
}
