// @module-tag deep

import { writeFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { Agent } from './support/agent.js';
import { codeCell, installTimeoutMs, TestLab, textCell } from './support/jupyter.js';
import { until } from './support/patient-until.js';
import { hasBrowser, Person, withoutBrowser } from './support/person.js';

const timeout = 400_000;
let lab: TestLab;
let browser: Browser;
let person: Person;

beforeAll(async () => {
  if (!hasBrowser) return;
  [lab, browser] = await Promise.all([TestLab.start(), openChromium()]);
  person = await Person.open(browser, lab);
}, installTimeoutMs);
afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

/** Both at a notebook; the agent leaves when the test has finished. */
async function together(file: string, cells: readonly object[]): Promise<Agent> {
  await lab.write(file, cells);
  const agent = await Agent.open(lab.server, file);
  onTestFinished(() => agent.close());
  await person.show(file);
  return agent;
}

it('#96, #146: edits of both sides are there at once, with the same cell ids, and in the file', {
  ...drivesBrowser,
  timeout,
  tags: ['P-220'],
}, async ({ skip }) => {
  skip(!hasBrowser, withoutBrowser);
  const agent = await together('both.ipynb', [codeCell('one', 'a = 1'), textCell('two', 'Text.'), codeCell('three', 'c = 3')]);
  await person.hasCells(3);
  await person.type(0, '  # by the person');
  await until(async () => (await agent.cells())[0]?.source === 'a = 1  # by the person');
  const { cell } = agent.notebook.session.document.get('one');
  expect(cell.changedBy).toMatchObject({ kind: 'person', name: expect.stringContaining('Anonymous') });

  await agent.call('update_cell', { cellId: 'one', content: 'a = 10  # by the person\nb = 2' });
  const { value } = await agent.call('add_code_cell', { cellIndex: 1, language: 'python', code: 'added = True' });
  await agent.call('move_cell', { cellId: 'three', cellIndex: 0 });
  await agent.call('delete_cell', { cellId: 'two' });
  await until(
    async () => JSON.stringify(await person.sources()) === JSON.stringify(['c = 3', 'a = 10  # by the person\nb = 2', 'added = True']),
  );
  await person.type(2, '  # seen');
  await until(async () => (await agent.cells())[2]?.source === 'added = True  # seen');

  const ids = (await agent.cells()).map(({ id }) => id);
  expect(ids).toEqual(['three', 'one', value.newCellId]);
  // The server saves by itself.
  await until(async () => {
    const { cells } = await lab.read('both.ipynb');
    return (
      JSON.stringify(cells.map(({ id, source }) => [id, [source].flat().join('')])) ===
      JSON.stringify((await agent.cells()).map(({ id, source }) => [id, source]))
    );
  }, 20_000);
});

it('an edit that is based on an old state is refused, and shows what the person made of the cell', { ...drivesBrowser, timeout }, async ({
  skip,
}) => {
  skip(!hasBrowser, withoutBrowser);
  const agent = await together('stale.ipynb', [codeCell('one', 'a = 1')]);
  const [cell] = await agent.cells();
  await person.type(0, '0');
  await until(async () => (await agent.cells())[0]?.source === 'a = 10');
  const { error } = await agent.call('update_cell', { cellId: 'one', content: 'a = 2', expected_rev: cell?.rev });
  expect(error).toMatchObject({ code: 'stale_cell', currentSource: 'a = 10', changedBy: { kind: 'person' } });
  expect(await person.sources()).toEqual(['a = 10']);
});

it('the undo of each takes back what is theirs, and nothing else', { ...drivesBrowser, timeout, tags: ['P-221'] }, async ({ skip }) => {
  skip(!hasBrowser, withoutBrowser);
  const agent = await together('undo.ipynb', [codeCell('one', 'a = 1'), codeCell('two', 'b = 1')]);
  await person.hasCells(2);
  await person.type(0, ' + 1');
  await until(async () => (await agent.cells())[0]?.source === 'a = 1 + 1');
  await agent.call('update_cell', { cellId: 'one', content: 'z = 0\na = 1 + 1' });
  await agent.call('update_cell', { cellId: 'two', content: 'b = 2' });
  await until(async () => (await person.sources()).join() === 'z = 0\na = 1 + 1,b = 2');
  await person.cell(0).locator('.cm-content').click();
  for (let presses = 0; presses < 3; presses++) await person.page.keyboard.press('Control+z');
  await until(async () => (await agent.cells())[0]?.source === 'z = 0\na = 1');
  expect((await agent.cells())[1]?.source).toBe('b = 2');

  await agent.call('undo_last_change');
  await until(async () => (await person.sources()).join() === 'z = 0\na = 1,b = 1');
  // The person has changed the other cell since.
  expect((await agent.call('undo_last_change')).error).toMatchObject({ code: 'changed_since' });
  expect(await person.sources()).toEqual(['z = 0\na = 1', 'b = 1']);
});

it('outputs are in the open tab while they come, once, and those of the person’s runs are the agent’s', {
  ...drivesBrowser,
  timeout,
}, async ({ skip }) => {
  skip(!hasBrowser, withoutBrowser);
  const agent = await together('runs.ipynb', [codeCell('one', 'mine = 20 + 1\nprint("from the person", mine)')]);
  await person.kernelReady();
  await person.runCell(0);
  await until(async () => JSON.stringify((await agent.cells())[0]?.outputs).includes('from the person 21'));

  const code =
    'import pathlib, time\nprint("begun", mine + 1, flush=True)\nwhile not pathlib.Path("go").exists(): time.sleep(0.05)\nprint("done")\nmine * 2';
  const running = agent.call('run_code', { code });
  await person.sees('begun 22');
  const cell = person.cell(1);
  expect(await cell.locator('.jp-InputPrompt').textContent()).toContain('[*]');
  await writeFile(`${lab.folder}/go`, '');
  const { value } = await running;
  expect(value).toMatchObject({ status: 'ok', execution_count: 2 });
  expect(value.outputs).toMatchObject([
    { output_type: 'stream', text: ['begun 22\n', 'done\n'] },
    { output_type: 'execute_result', data: { 'text/plain': ['42'] } },
  ]);
  await person.sees('42');
  await until(async () => (await cell.locator('.jp-InputPrompt').textContent())?.includes('[2]'));
  expect(await cell.locator('.jp-OutputArea-output').allTextContents()).toEqual(['begun 22\ndone\n', '42']);
  await person.save();
  await until(async () => (await lab.read('runs.ipynb')).cells[1]?.outputs?.length === 2, 20_000);
});
