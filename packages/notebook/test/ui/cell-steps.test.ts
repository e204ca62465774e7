// @module-tag deep
// @module-tag P-230

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import type { CellContent } from '../../src/model/cell.js';
import { Stage } from './support/browser.js';
import type { TestHost } from './support/host.js';

const unhurried = { ...drivesBrowser, timeout: 120_000 };

describe('cells', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  async function open(...cells: (string | Partial<CellContent>)[]) {
    const host = await stage.host({ cells: cells.map((cell) => (typeof cell === 'string' ? { source: cell } : cell)) });
    const { page, faults } = await stage.window(host);
    await page.locator('.cell.selected').waitFor();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    return { host, page, faults, press };
  }

  const sourcesOf = (host: TestHost) => host.document.cells.map(({ source }) => source);
  const inRange = (page: Page) =>
    page.locator('.cell').evaluateAll((cells) => cells.flatMap((cell, index) => (cell.matches('.selected, .in-range') ? [index] : [])));

  it('several are selected with Shift and the arrows, deleted, and put back in one step', unhurried, async () => {
    const { host, page, press, faults } = await open('a', 'b', 'c', 'd');
    await press('j', 'Shift+ArrowDown', 'Shift+j');
    expect(await inRange(page)).toEqual([1, 2, 3]);
    expect(await page.locator('.cell').nth(2).getAttribute('aria-label')).toContain('selected');
    await press('Shift+ArrowUp', 'd', 'd');
    await expect.poll(() => sourcesOf(host)).toEqual(['a', 'd']);
    await press('z');
    await expect.poll(() => sourcesOf(host)).toEqual(['a', 'b', 'c', 'd']);
    expect(host.document.cells.map(({ id }) => id)).toEqual(['cell-0', 'cell-1', 'cell-2', 'cell-3']);
    await press('Control+a');
    await expect.poll(() => inRange(page)).toEqual([0, 1, 2, 3]);
    await press('k');
    expect(await inRange(page)).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  it('several are selected with Shift and a click, moved as one, and run', unhurried, async () => {
    const { host, page, press } = await open('print a', 'print b', 'c', 'd');
    await page
      .locator('.cm-content')
      .nth(1)
      .click({ modifiers: ['Shift'] });
    expect(await inRange(page)).toEqual([0, 1]);
    await page.locator('.cell').nth(1).hover();
    await page.getByRole('button', { name: 'Move down' }).click();
    await expect.poll(() => sourcesOf(host)).toEqual(['c', 'print a', 'print b', 'd']);
    await press('Control+Enter');
    await expect.poll(() => host.document.cells.map(({ executionCount }) => executionCount)).toEqual([null, 1, 2, null]);
  });

  it('keep outputs, metadata and attachments when they are cut and pasted', unhurried, async () => {
    const attachments = { 'dot.png': { 'image/png': 'iVBORw0KGgo=' } };
    const { host, page, press, faults } = await open(
      { source: 'print a', metadata: { tags: ['keep'] } },
      { type: 'markdown', source: '![dot](attachment:dot.png)', attachments, metadata: { mine: 1 } },
      'last',
    );
    await press('Control+Enter');
    await page.locator('.stream-output').waitFor();
    await press('Shift+ArrowDown', 'x');
    await expect.poll(() => sourcesOf(host)).toEqual(['last']);
    await press('v');
    await expect.poll(() => sourcesOf(host)).toEqual(['last', 'print a', '![dot](attachment:dot.png)']);
    expect(host.document.cells[1]).toMatchObject({
      metadata: { tags: ['keep'] },
      executionCount: 1,
      outputs: [{ output_type: 'stream', text: 'a\n' }],
    });
    expect(host.document.cells[2]).toMatchObject({ metadata: { mine: 1 }, attachments });
    await expect.poll(() => inRange(page)).toEqual([1, 2]);
    await press('Shift+V');
    await expect.poll(() => sourcesOf(host)).toHaveLength(5);
    await press('z');
    await expect.poll(() => sourcesOf(host)).toHaveLength(3);
    expect(faults.filter((fault) => !/ERR_INVALID|Failed to load/.test(fault))).toEqual([]);
  });

  it('are split at the cursor and merged again, by keys and by the menu', unhurried, async () => {
    const { host, page, press, faults } = await open('first\nsecond', 'third');
    await page.locator('.cm-line', { hasText: 'second' }).click();
    await press('Home', 'Control+Shift+Minus');
    await expect.poll(() => sourcesOf(host)).toEqual(['first', 'second', 'third']);
    // The text behind the cursor is the cell that was there: agents know it by its id.
    expect(host.document.cells[1]?.id).toBe('cell-0');
    await page.locator('.cell').nth(1).locator('.cm-focused').waitFor();
    await press('Escape', 'k', 'Shift+M');
    await expect.poll(() => sourcesOf(host)).toEqual(['first\n\nsecond', 'third']);
    await press('Shift+ArrowDown');
    await page.locator('.cell.selected').hover();
    await page.getByRole('button', { name: 'More for this cell' }).click();
    await page.getByRole('menuitem', { name: 'Merge' }).click();
    await expect.poll(() => sourcesOf(host)).toEqual(['first\n\nsecond\n\nthird']);
    await press('z');
    await expect.poll(() => sourcesOf(host)).toEqual(['first\n\nsecond', 'third']);
    expect(faults).toEqual([]);
  });

  it('keys that are pressed before a new cell is there go into it', unhurried, async () => {
    const { host, page, press } = await open('print a');
    await press('Shift+Enter');
    await page.keyboard.type('print dd');
    await expect.poll(() => sourcesOf(host)).toEqual(['print a', 'print dd']);
    await press('Escape', 'd', 'd', 'a', 'Enter');
    await page.keyboard.type('x');
    await expect.poll(() => sourcesOf(host)).toEqual(['x', 'print a']);
  });

  it('an empty notebook says what to do first, and Enter does it', unhurried, async () => {
    const host = await stage.host({ cells: [] });
    const { page } = await stage.window(host);
    await page.getByText('This notebook is empty').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('print a');
    await expect.poll(() => sourcesOf(host)).toEqual(['print a']);
    expect(await page.getByText('This notebook is empty').isVisible()).toBe(false);
  });
});
