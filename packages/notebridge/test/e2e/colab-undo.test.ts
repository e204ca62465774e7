import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { launchColabBrowser } from '../fixtures/colab-page/chromium.js';
import { createNodeColabPage } from '../fixtures/colab-page/node-page.js';
import { serveColabPage } from '../fixtures/colab-page/serve.js';
import { type PageAddress, Program } from '../support/program.js';

type NodePage = ReturnType<typeof createNodeColabPage>;

const undoTool = 'undo_last_change';
const toolsChanged = 'notifications/tools/list_changed';
const beside = ['list_notebooks', 'connect_notebook', 'disconnect_notebook'];
const fresh = [
  'open_colab_browser_connection',
  ...['add_code_cell', 'add_text_cell', 'delete_cell', 'get_cells', 'move_cell', 'run_code_cell', 'update_cell'],
  ...['get_run', 'list_runs', 'interrupt_run', 'get_output'],
];

describe('undo on the stand-in of the Colab page', () => {
  let program: Program;
  let page: NodePage;
  let address: PageAddress;

  beforeEach(async () => {
    program = await Program.open();
    address = await program.address();
    page = createNodeColabPage(address);
    await program.notification(toolsChanged);
  });

  afterEach(async () => {
    page.close();
    await program.close();
  });

  const call = (name: string, args: JsonObject = {}): Promise<JsonObject> => callTool(program, name, args);
  const undo = (): Promise<JsonObject> => call(undoTool);
  /** An agent replaces and deletes only what it has read. */
  const read = (): Promise<JsonObject> => call('get_cells');
  /** What a person sees: type, source and language of each cell, in order. */
  const shown = (): string[] =>
    page.notebook.cells.map(({ cell_type, source, language }) => `${cell_type} ${language}: ${source.join('')}`);
  const ids = (): string[] => page.notebook.cells.map(({ id }) => id);
  const addPerson = (index: number, text: string, language = 'python'): string =>
    page.notebook.addCell(index, { cellType: 'code', text, language });

  it('gives an updated cell its old source again, to the letter', { tags: ['deep'] }, async () => {
    const source = '\n# ä 👍\r\n"""\t"""\n\n';
    const cellId = addPerson(0, source);
    await read();
    expect(await call('update_cell', { cellId, content: 'print(1)' })).toEqual({});
    expect(await undo()).toEqual({ undone: { change: 'update', cellId } });
    expect(page.notebook.findCell(cellId).source.join('')).toBe(source);
  });

  it('puts a moved cell back, also where a person has added cells above', { tags: ['deep'] }, async () => {
    for (const text of ['a', 'b', 'c', 'd']) addPerson(99, text);
    const [, cellId = ''] = ids();
    await call('move_cell', { cellId, cellIndex: 99 });
    expect(shown().at(-1)).toBe('code python: b');
    expect(await undo()).toEqual({ undone: { change: 'move', cellId } });
    expect(shown()).toEqual(['a', 'b', 'c', 'd'].map((text) => `code python: ${text}`));
    await call('move_cell', { cellId, cellIndex: 0 });
    addPerson(2, 'new');
    await undo();
    expect(shown()).toEqual(['a', 'b', 'new', 'c', 'd'].map((text) => `code python: ${text}`));
  });

  it('takes an added cell away, code and text', { tags: ['deep'] }, async () => {
    addPerson(0, 'a');
    await call('add_code_cell', { cellIndex: 0, language: 'python', code: 'x' });
    await call('add_text_cell', { cellIndex: 5, content: '# y' });
    expect(shown()).toHaveLength(3);
    expect(await undo()).toMatchObject({ undone: { change: 'insert' } });
    expect(await undo()).toMatchObject({ undone: { change: 'insert' } });
    expect(shown()).toEqual(['code python: a']);
  });

  it('brings a deleted cell back at its place, as what it was, and says its new id', { tags: ['deep'] }, async () => {
    const [above, cellId, text] = [addPerson(0, 'a'), addPerson(1, 'b\n'), page.notebook.addCell(2, { cellType: 'markdown', text: '# c' })];
    await read();
    await call('delete_cell', { cellId });
    await call('delete_cell', { cellId: text });
    expect(ids()).toEqual([above]);
    expect(await undo()).toMatchObject({ undone: { change: 'delete', cellId: text, note: expect.stringContaining('outputs') } });
    const { undone } = (await undo()) as { undone: JsonObject };
    expect(undone).toMatchObject({ change: 'delete', cellId });
    expect(shown()).toEqual(['code python: a', 'code python: b\n', 'markdown python: # c']);
    expect(ids()[1]).toBe(undone.newCellId);
  });

  it('goes back through all changes of one cell, over its new id, in the language in which it was added', { tags: ['P-049'] }, async () => {
    addPerson(0, 'a');
    const { newCellId: cellId } = await call('add_code_cell', { cellIndex: 1, language: 'r', code: 'one' });
    await call('update_cell', { cellId, content: 'two' });
    await call('move_cell', { cellId, cellIndex: 0 });
    await call('delete_cell', { cellId });
    const changes: unknown[] = [];
    const states: string[][] = [];
    for (let step = 0; step < 4; step++) {
      changes.push(((await undo()).undone as JsonObject).change);
      states.push(shown());
    }
    expect(changes).toEqual(['delete', 'move', 'update', 'insert']);
    expect(states).toEqual([
      ['code r: two', 'code python: a'],
      ['code python: a', 'code r: two'],
      ['code python: a', 'code r: one'],
      ['code python: a'],
    ]);
  });

  it('keeps the order of calls that are sent at once, and can undo each of them', { tags: ['deep'] }, async () => {
    const cellId = addPerson(0, 'print("old")');
    await read();
    const [, run] = await Promise.all([
      call('update_cell', { cellId, content: 'print("one")' }),
      call('run_code_cell', { cellId }),
      call('update_cell', { cellId, content: 'print("two")' }),
      call('update_cell', { cellId, content: 'print("three")' }),
    ]);
    expect(run).toMatchObject({ outputs: [{ text: ['one\n'] }] });
    for (const content of ['print("two")', 'print("one")', 'print("old")']) {
      await undo();
      expect(shown()).toEqual([`code python: ${content}`]);
    }
  });

  it("the undo never takes back over a person's edit, and changes nothing then", { tags: ['P-049'] }, async () => {
    const [updated, moved, deleted] = [addPerson(0, 'a'), addPerson(1, 'b'), addPerson(2, 'c')];
    await read();
    await call('update_cell', { cellId: updated, content: 'agent' });
    page.notebook.updateCell(updated, 'person');
    expect(await undo()).toMatchObject({
      error: { code: 'changed_since', message: expect.stringContaining('"person"'), cellId: updated, currentSource: 'person' },
    });
    expect(shown()[0]).toBe('code python: person');

    await call('move_cell', { cellId: moved, cellIndex: 0 });
    page.notebook.moveCell(moved, 2);
    expect(await undo()).toMatchObject({ error: { code: 'changed_since', message: expect.stringContaining('index 2') } });
    expect(ids()).toEqual([updated, deleted, moved]);

    const { newCellId } = await call('add_code_cell', { cellIndex: 0, language: 'python', code: 'agent' });
    page.notebook.deleteCell(String(newCellId));
    expect(await undo()).toMatchObject({ error: { code: 'changed_since', message: expect.stringContaining('not there any more') } });
    expect(ids()).toEqual([updated, deleted, moved]);
  });

  it('is listed only while there is something to undo, and says when that changes', { tags: ['deep'] }, async () => {
    expect(await toolNames(program)).toEqual([...fresh, ...beside]);
    const told = program.countOf(toolsChanged);
    const { newCellId: cellId } = await call('add_text_cell', { cellIndex: 0, content: 'x' });
    await program.notification(toolsChanged, told);
    expect(await toolNames(program)).toEqual([...fresh, undoTool, ...beside]);
    await call('update_cell', { cellId, content: 'y' });
    await undo();
    expect(await toolNames(program)).toEqual([...fresh, undoTool, ...beside]);
    expect(program.countOf(toolsChanged)).toBe(told + 1);
    await undo();
    await program.notification(toolsChanged, told + 1);
    expect(await toolNames(program)).toEqual([...fresh, ...beside]);
  });

  it('answers a call with nothing to undo, with an argument, and without a page', { tags: ['deep'] }, async () => {
    expect(await program.callTool(undoTool)).toMatchObject({
      result: { isError: true, _meta: { 'notebridge/error_code': 'nothing_to_undo' } },
    });
    expect(await call(undoTool, { count: 2 })).toMatchObject({ error: { code: 'bad_params' } });
    await using lonely = await Program.open();
    expect(await lonely.callTool(undoTool)).toMatchObject({
      result: { isError: true, _meta: { 'notebridge/error_code': 'not_connected' } },
    });
  });

  it('journals nothing that failed', { tags: ['deep'] }, async () => {
    const cellId = addPerson(0, 'a');
    expect(await program.callTool('update_cell', { cellId: 'nobody', content: 'x' })).toMatchObject({ result: { isError: true } });
    expect(await program.callTool('move_cell', { cellId, toIndex: 0 })).toMatchObject({ result: { isError: true } });
    expect(await undo()).toMatchObject({ error: { code: 'nothing_to_undo' } });
  });

  it('lives on when the page is reloaded', { tags: ['P-049'] }, async () => {
    const cellId = addPerson(0, 'a');
    addPerson(1, 'b');
    await read();
    await call('update_cell', { cellId, content: 'agent' });
    await call('delete_cell', { cellId: ids()[1] });
    const told = program.countOf(toolsChanged);
    page.reload();
    await program.notification(toolsChanged, told + 1);
    await undo();
    expect(await undo()).toEqual({ undone: { change: 'update', cellId } });
    expect(shown()).toEqual(['code python: a', 'code python: b']);
  });

  it('forgets what it knew when another notebook is connected, and leaves that one alone', { tags: ['deep'] }, async () => {
    const cellId = addPerson(0, 'a');
    await read();
    await call('delete_cell', { cellId });
    page.close();
    page = createNodeColabPage(address);
    page.notebook.addCell(0, { cellType: 'code', text: 'other' });
    await page.whenState('connected');
    expect(await undo()).toMatchObject({ error: { code: 'nothing_to_undo', message: expect.stringContaining('another notebook') } });
    expect(shown()).toEqual(['code python: other']);
    expect(await toolNames(program)).toEqual([...fresh, ...beside]);
  });
});

it("a user's own middleware sees the tool like any other", { tags: ['deep'] }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-undo-'));
  const middleware =
    'export default { onCallTool(context, callNext) { console.error(`saw ${context.message.name}`); return callNext(context); } };';
  writeFileSync(join(folder, 'see.mjs'), middleware);
  writeFileSync(join(folder, 'mcp.json'), '{ "notebridge": { "middleware": ["./see.mjs"] } }');
  await using program = await Program.open({ args: ['--config', join(folder, 'mcp.json')] });
  const page = createNodeColabPage(await program.address());
  await program.notification(toolsChanged);
  const { newCellId: cellId } = await callTool(program, 'add_text_cell', { cellIndex: 0, content: 'x' });
  await callTool(program, 'update_cell', { cellId, content: 'y' });
  await callTool(program, undoTool);
  await program.until(() => program.stderr.includes(`saw ${undoTool}\n`));
  const seen = program.stderr.split('\n').filter((line) => line.startsWith('saw '));
  expect(seen).toEqual(['saw open_colab_browser_connection', 'saw add_text_cell', 'saw update_cell', `saw ${undoTool}`]);
  page.close();
  rmSync(folder, { recursive: true });
});

it('works in a real Chromium', { ...drivesBrowser, tags: ['deep', 'P-049'] }, async ({ skip }) => {
  skip(findChromium() === undefined, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
  const server = await serveColabPage();
  const browser = await launchColabBrowser({ pagePort: server.port, publicAddress: true, grantLocalNetwork: true });
  try {
    await using program = await Program.open();
    const page = await browser.open((await program.address()).url);
    await page.locator('dialog.local-mcp-connect-dialog button', { hasText: 'Connect' }).click();
    await program.notification(toolsChanged);
    const call = (name: string, args: JsonObject = {}): Promise<JsonObject> => callTool(program, name, args);
    const sources = async (): Promise<string[]> => {
      const { cells } = (await call('get_cells')) as { cells: { source: string[] }[] };
      return cells.map(({ source }) => source.join(''));
    };
    const { newCellId: first } = await call('add_code_cell', { cellIndex: 0, language: 'python', code: 'one' });
    const { newCellId: second } = await call('add_text_cell', { cellIndex: 1, content: 'two' });
    await call('update_cell', { cellId: first, content: 'changed' });
    await call('move_cell', { cellId: second, cellIndex: 0 });
    await call('delete_cell', { cellId: first });
    const states: string[][] = [await sources()];
    for (let step = 0; step < 5; step++) {
      expect(await call(undoTool)).toHaveProperty('undone');
      states.push(await sources());
    }
    expect(states).toEqual([['two'], ['two', 'changed'], ['changed', 'two'], ['one', 'two'], ['one'], []]);
  } finally {
    await browser.close();
    await server.close();
  }
});

/** The value in the one text of a tool's answer. */
async function callTool(program: Program, name: string, args: JsonObject = {}): Promise<JsonObject> {
  const answer = await program.callTool(name, args);
  const { content } = (answer.result ?? {}) as { content?: { text: string }[] };
  return content === undefined ? answer : (JSON.parse(content[0]?.text ?? 'null') as JsonObject);
}

async function toolNames(program: Program): Promise<string[]> {
  const { result } = await program.request('tools/list');
  return (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
}
