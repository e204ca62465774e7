// @module-tag deep

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';

const claude = { kind: 'agent', name: 'Claude' } as const;

describe('the window', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('shows the notebook, takes the token out of the address, and breaks no rule of the policy', drivesBrowser, async () => {
    const host = await stage.host({ cells: [{ type: 'markdown', source: '# Title\n\nSome *text*.' }, { source: 'print hello' }] });
    const { page, faults } = await stage.window(host);
    await page.getByRole('heading', { name: 'Title' }).waitFor();
    expect(await page.locator('.cell').count()).toBe(2);
    expect(new URL(page.url()).hash).toBe('');
    await page.getByRole('button', { name: 'Run cell 2' }).click();
    await page.locator('.stream-output', { hasText: 'hello' }).waitFor();
    expect(host.document.cells[1]?.executionCount).toBe(1);
    await page.locator('[role=status]', { hasText: 'Cell 2 finished.' }).waitFor({ state: 'attached' });
    expect(faults).toEqual([]);
  });

  it('says what to do when the address has no token', drivesBrowser, async () => {
    const host = await stage.host({ cells: [] });
    const { page } = await stage.window(host);
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(new URL('/', host.url).href);
    await page.getByText('lacks the token').waitFor();
  });

  it('adds, moves, changes and deletes cells by mouse', drivesBrowser, async () => {
    const host = await stage.host({ cells: [{ source: 'first' }, { source: 'second' }] });
    const { page, faults } = await stage.window(host);
    await page.locator('.foot').getByRole('button', { name: 'Add a text cell here' }).click();
    await page.locator('.cell').nth(2).locator('.cm-focused').waitFor();
    await page.keyboard.type('last');
    await expect.poll(() => host.document.cells.map(({ source }) => source)).toEqual(['first', 'second', 'last']);
    await page.locator('.gap').nth(1).hover();
    await page.locator('.gap').nth(1).getByRole('button', { name: 'Add a code cell here' }).click();
    await expect
      .poll(() => host.document.cells.map(({ type, source }) => `${type} ${source}`))
      .toEqual(['code first', 'code ', 'code second', 'markdown last']);
    await page.getByRole('button', { name: 'Delete (D D)' }).click();
    await expect.poll(() => host.document.cells.length).toBe(3);
    await page.locator('.cell').first().locator('.gutter').click();
    await page.getByRole('button', { name: 'Move down' }).click();
    await expect.poll(() => host.document.cells.map(({ source }) => source)).toEqual(['second', 'first', 'last']);
    await page.getByLabel('Type of the cell').selectOption('raw');
    await expect.poll(() => host.document.cells[1]?.type).toBe('raw');
    expect(faults).toEqual([]);
  });

  it('edits a text cell by double click and shows it again after Shift+Enter', drivesBrowser, async () => {
    const host = await stage.host({ cells: [{ type: 'markdown', source: 'some *text*' }, { source: '' }] });
    const { page } = await stage.window(host);
    await page.locator('.prose em').dblclick();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' and **more**');
    await page.keyboard.press('Shift+Enter');
    await page.locator('.prose strong', { hasText: 'more' }).waitFor();
    await expect.poll(() => host.document.cells[0]?.source).toBe('some *text* and **more**');
  });

  it('shows what runs, who started it, and stops it', { ...drivesBrowser, tags: ['P-106'] }, async () => {
    const host = await stage.host({ cells: [{ source: 'wait' }, { source: 'print later' }], agents: [{ id: 'a', name: 'Claude' }] });
    const { page } = await stage.window(host);
    const runs = ['cell-0', 'cell-1'].map((id) => host.session.run(id, { by: claude }).catch(({ code }) => code as string));
    await page.locator('.cell.running .badge', { hasText: 'Claude is running this cell' }).waitFor();
    await page.locator('.cell.queued').waitFor();
    await page.locator('.hint', { hasText: 'Claude is working in cell 1' }).getByRole('button', { name: 'Stop' }).click();
    expect(await Promise.all(runs)).toMatchObject([{ status: 'interrupted' }, 'cancelled']);
    await expect.poll(() => page.locator('.cell:is(.running, .queued)').count()).toBe(0);
  });

  it('lets a person disconnect an agent, and keep agents from writing', { ...drivesBrowser, tags: ['P-106'] }, async () => {
    const host = await stage.host({ cells: [{ source: '' }], agents: [{ id: 'a', name: 'Claude' }] });
    const { page } = await stage.window(host);
    await page.getByTitle('Agent connected: ').waitFor();
    await page.getByRole('switch', { name: 'Read-only' }).click();
    await page.locator('[role=switch][aria-checked=true]').waitFor();
    expect(host.session.readOnly).toBe(true);
    await page.getByRole('button', { name: 'Disconnect Claude' }).click();
    await page.getByText('No agent connected').waitFor();
    expect(host.agents).toEqual([]);
  });

  it("lists the agent's changes and takes one back", { ...drivesBrowser, tags: ['P-106'] }, async () => {
    const host = await stage.host({ cells: [{ source: 'a = 1' }, { source: 'b = 2' }] });
    const { page, faults } = await stage.window(host);
    host.document.update('cell-0', 'a = 100', { by: claude });
    host.document.delete('cell-1', { by: claude });
    await page.getByRole('button', { name: 'Changes 2' }).click();
    await page.locator('.difference ins', { hasText: 'a = 100' }).waitFor();
    await page.getByRole('button', { name: 'Undo: Claude edited cell 1' }).click();
    await page.locator('.change.undone', { hasText: 'edited cell 1' }).waitFor();
    expect(host.document.get('cell-0').cell.source).toBe('a = 1');
    await page.getByRole('button', { name: 'Undo: Claude deleted' }).click();
    await expect.poll(() => host.document.cells.length).toBe(2);
    expect(faults).toEqual([]);
  });

  it('asks what to do with a file that changed elsewhere', drivesBrowser, async () => {
    const host = await stage.host({ cells: [] });
    const { page } = await stage.window(host);
    host.setFile({ kind: 'conflict', found: 'changed', detail: '' });
    await page.getByRole('alert').getByRole('button', { name: 'Keep mine' }).click();
    await expect.poll(() => host.asked.at(-1)).toEqual({ do: 'resolveConflict', keep: 'mine' });
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    host.setFile({ kind: 'failed', detail: 'The disk is full.' });
    await page.getByRole('alert').filter({ hasText: 'The disk is full.' }).waitFor();
  });

  it('folds long outputs and shows all on request', drivesBrowser, async () => {
    const text = Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join('\n');
    const host = await stage.host({ cells: [{ source: '', outputs: [{ output_type: 'stream', name: 'stdout', text }] }] });
    const { page } = await stage.window(host);
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('button', { name: /more lines/ }).click();
    await expect.poll(() => page.locator('.text-output').textContent()).toContain('line 10000\n');
    await page.getByRole('button', { name: 'Show less' }).waitFor();
  });

  it('clears the output of the selected cell, where there is one', drivesBrowser, async () => {
    const host = await stage.host({
      cells: [
        { source: 'first', executionCount: 1, outputs: [{ output_type: 'stream', name: 'stdout', text: 'to be cleared' }] },
        { source: 'second' },
      ],
    });
    const { page, faults } = await stage.window(host);
    const clear = page.getByRole('button', { name: 'Clear output' });
    await page
      .locator('.cell')
      .nth(1)
      .hover({ position: { x: 5, y: 5 } });
    await page
      .locator('.cell')
      .nth(1)
      .click({ position: { x: 5, y: 5 } });
    await page.getByRole('toolbar', { name: 'Cell' }).waitFor();
    expect(await clear.count()).toBe(0);
    await page
      .locator('.cell')
      .nth(0)
      .click({ position: { x: 5, y: 5 } });
    await clear.click();
    await expect.poll(() => host.document.cells[0]).toMatchObject({ outputs: [], executionCount: null });
    await expect.poll(() => page.getByText('to be cleared').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('remembers the theme that a person chose', drivesBrowser, async () => {
    const host = await stage.host({ cells: [] });
    const { page } = await stage.window(host, { colorScheme: 'light' });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.getByRole('button', { name: 'Light or dark theme' }).click();
    const dark = await ground();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.locator('.bar').waitFor();
    expect(await ground()).toBe(dark);
  });

  it('fits into 360 pixels without scrolling sideways', { ...drivesBrowser, tags: ['P-109'] }, async () => {
    const long = 'x'.repeat(300);
    const host = await stage.host({
      title: `analysis-${'of-something-'.repeat(5)}.ipynb`,
      agents: [{ id: 'a', name: 'An agent with quite a long name' }],
      cells: [
        { source: `y = "${long}"`, outputs: [{ output_type: 'stream', name: 'stdout', text: long }] },
        { type: 'markdown', source: long },
      ],
    });
    const { page } = await stage.window(host, { viewport: { width: 360, height: 700 } });
    await page.locator('.markdown .prose').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    for (const name of ['Restart kernel', 'Disconnect An agent with quite a long name', 'Notebook menu']) {
      const box = await page.getByRole('button', { name }).boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 360, name).toBe(true);
    }
  });
});
