// @module-tag deep

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage, textOf } from './support/browser.js';

const unhurried = { ...drivesBrowser, timeout: 120_000 };
const claude = { kind: 'agent', name: 'Claude' } as const;

describe('the menu of the notebook', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  const choose = async (page: Page, name: string) => {
    await page.getByRole('button', { name: 'Notebook menu' }).click();
    await page.getByRole('menuitem', { name }).click();
  };

  it('is worked by keyboard, and gives the keyboard back', unhurried, async () => {
    const host = await stage.host({ cells: [{ source: 'a' }] });
    const { page, faults } = await stage.window(host);
    const opener = page.getByRole('button', { name: 'Notebook menu' });
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    await opener.focus();
    await page.keyboard.press('Enter');
    expect(await focused()).toContain('New or open…');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toContain('Keyboard help');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('menu').count()).toBe(0);
    expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('shows the outline, which follows what is written, and leads there', unhurried, async () => {
    const filler = Array.from({ length: 40 }, (_, index) => ({ source: `x = ${index}\n\n\n\n` }));
    const host = await stage.host({
      cells: [{ type: 'markdown', source: '# One\n\n## *Two*' }, ...filler, { type: 'markdown', source: '# Last' }],
    });
    const { page, faults } = await stage.window(host);
    await choose(page, 'Outline');
    const outline = page.getByRole('complementary', { name: 'Outline' });
    await expect.poll(() => outline.getByRole('listitem').allTextContents()).toEqual(['Level 1: One', 'Level 2: Two', 'Level 1: Last']);
    host.document.insert(1, { type: 'markdown', source: '### New' }, { by: claude });
    await expect.poll(() => outline.getByRole('listitem').count()).toBe(4);
    await outline.getByRole('button', { name: 'Last' }).click();
    await expect.poll(() => page.locator('.cell.selected').getAttribute('data-cell-id')).toBe('cell-41');
    await expect
      .poll(() => page.locator('[data-cell-id=cell-41]').evaluate((cell) => cell.getBoundingClientRect().top < innerHeight))
      .toBe(true);
    await page.getByRole('button', { name: 'Changes' }).click();
    expect(await outline.count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('exports a script, and one HTML file in which nothing runs and nothing is loaded', { ...unhurried, tags: ['P-232'] }, async () => {
    const html = '<b>table</b><script>globalThis.ran = true</script><img src="https://example.com/a.png" onerror="globalThis.ran = true">';
    const host = await stage.host({
      cells: [
        { type: 'markdown', source: '# Title </style><script>globalThis.ran = true</script>' },
        {
          source: 'x = "<script>"',
          executionCount: 3,
          outputs: [
            { output_type: 'stream', name: 'stdout', text: 'printed </pre><script>globalThis.ran = true</script>\n' },
            { output_type: 'display_data', data: { 'text/html': html }, metadata: {} },
          ],
        },
      ],
    });
    const { page, faults } = await stage.window(host);
    const save = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent('download'), choose(page, name)]);
      return { name: download.suggestedFilename(), text: await textOf(download) };
    };
    const script = await save('Export as a script');
    expect(script.name).toBe('analysis.py');
    expect(script.text).toContain('# %% [markdown]\n# # Title');
    expect(script.text).toContain('# %%\nx = "<script>"\n');
    const exported = await save('Export as HTML');
    expect(exported.name).toBe('analysis.html');
    expect(faults).toEqual([]);
    // As a browser has it that opens the file: without the policy of a server.
    const requests: string[] = [];
    const other = await page.context().newPage();
    other.on('request', ({ url }) => requests.push(url()));
    await other.goto(`data:text/html;charset=utf-8,${encodeURIComponent(exported.text)}`);
    await other.getByRole('heading', { name: 'Title' }).waitFor();
    expect(await other.locator('.source').textContent()).toBe('x = "<script>"');
    expect(await other.locator('.output').first().textContent()).toContain('printed </pre><script>');
    // In a tree of its own, as here: neither its styles nor those of the page cross.
    await other.locator('.output b', { hasText: 'table' }).waitFor();
    expect(await other.locator('script, iframe, button, [onerror]').count()).toBe(0);
    expect(await other.evaluate(() => 'ran' in globalThis)).toBe(false);
    expect(requests.filter((url) => !url.startsWith('data:'))).toEqual([]);
  });

  it('opens and makes notebooks of the folder in tabs of their own', unhurried, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'notebook-folder-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'other.ipynb'), '{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}');
    const host = await stage.realHost({ file: join(folder, 'analysis.ipynb'), scenes: {} });
    const { page } = await stage.window(host);
    await choose(page, 'New or open…');
    const dialog = page.getByRole('dialog', { name: 'Notebooks of this folder' });
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['analysis.ipynbthis one', 'other.ipynb']);
    const [opened] = await Promise.all([page.context().waitForEvent('page'), dialog.getByRole('button', { name: 'other.ipynb' }).click()]);
    await opened.locator('.title', { hasText: 'other.ipynb' }).waitFor();
    await choose(page, 'New or open…');
    await dialog.getByLabel('Name of a new notebook').fill('made');
    const [made] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Enter')]);
    await made.locator('.title', { hasText: 'made.ipynb' }).waitFor();
    // Its kernel is its own.
    await made.keyboard.press('Enter');
    await made.keyboard.type('print there');
    await made.keyboard.press('Control+Enter');
    await made.locator('.stream-output', { hasText: 'there' }).waitFor();
    expect(host.session.document.cells).toHaveLength(0);
    await host.close();
    await page.locator('.banner', { hasText: 'It is saved in analysis.ipynb.' }).waitFor();
    await made.locator('.banner', { hasText: 'It is saved in made.ipynb.' }).waitFor();
  });

  it('the window knows after a reload who changed what, and calls another window so', unhurried, async () => {
    const host = await stage.host({ cells: [{ source: 'a' }, { source: 'wait' }] });
    const [one, two] = [await stage.window(host), await stage.window(host)];
    host.document.update('cell-0', 'agent', { by: claude });
    await one.page.locator('.badge', { hasText: 'Claude edited this cell' }).waitFor();
    await one.page.reload();
    const badge = one.page.locator('[data-cell-id=cell-0] .badge');
    await expect.poll(() => badge.textContent()).toBe('Claude');
    expect(await badge.getAttribute('title')).toBe('Claude edited this cell');
    await two.page.locator('.cm-content').first().click();
    await two.page.keyboard.press('Control+End');
    await two.page.keyboard.type(' and person');
    await expect.poll(() => badge.isVisible()).toBe(false);
    await one.page.getByRole('button', { name: 'Changes' }).click();
    await one.page.locator('.change-state', { hasText: 'Another window changed it since' }).waitFor();
    await two.page.getByRole('button', { name: 'Changes' }).click();
    await two.page.locator('.change-state', { hasText: 'You changed it since' }).waitFor();
    await two.page.reload();
    await two.page.getByRole('button', { name: 'Changes' }).click();
    await two.page.locator('.change-state', { hasText: 'You changed it since' }).waitFor();
  });

  it('the window does not say that an agent goes on with what has ended', unhurried, async () => {
    const host = await stage.host({ cells: [{ source: 'wait' }], agents: [{ id: 'a', name: 'Claude' }] });
    const { page } = await stage.window(host);
    const run = host.session.run('cell-0', { by: claude });
    await page.locator('.hint', { hasText: 'Claude is working in cell 1' }).waitFor();
    host.kernel.finish();
    await run;
    await page.locator('.hint').waitFor({ state: 'hidden' });
    await page.locator('.badge', { hasText: 'Claude ran this cell' }).waitFor();
  });

  for (const width of [360, 1024])
    it(`the bar can be read at ${width} px with an agent`, unhurried, async () => {
      const host = await stage.host({ cells: [{ source: '' }], agents: [{ id: 'a', name: 'Claude Code' }] });
      const { page } = await stage.window(host, { viewport: { width, height: 700 } });
      const cut = await page
        .locator('.bar :is(.save-state, .kernel-text, .agent-name, .switch, .changes-button)')
        .evaluateAll((elements) => elements.flatMap((each) => (each.scrollWidth > each.clientWidth + 1 ? [each.className] : [])));
      expect(cut.filter((name) => width > 360 || name !== 'agent-name')).toEqual([]);
      expect(await page.getByRole('switch', { name: /Read-only/ }).innerText()).toContain('Read-only');
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    });

  it('the bar keeps the name of the agent that holds the notebook at 1280 px, however long others are', {
    ...unhurried,
    tags: ['P-686'],
  }, async () => {
    const holder = { id: 'a', name: 'Claude Code', since: Date.now() };
    const host = await stage.host({
      cells: [{ source: '' }],
      title: `analysis of ${'many '.repeat(20)}sales.ipynb`,
      agents: [holder],
      lease: { holder, asking: [], barred: [] },
    });
    const { page } = await stage.window(host, { viewport: { width: 1280, height: 700 } });
    const name = page.locator('.agent-name');
    expect(await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(1);
    expect(await name.innerText()).toBe('Claude Code');
    expect(await page.locator('.save-state').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(1);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);
  });
});
