// @module-tag deep

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';

const claude = { kind: 'agent', name: 'Claude' } as const;

describe('person and agent at once', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('keeps both when they write in different lines', drivesBrowser, async () => {
    const host = await stage.host({ cells: [{ source: 'a = 1\nb = 2\nc = 3' }] });
    const { page, faults } = await stage.window(host);
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('0');
    host.document.update('cell-0', 'import math\na = 1\nb = 2\nc = 3', { by: claude });
    await page.keyboard.type('0');
    await expect.poll(() => host.document.get('cell-0').cell.source).toBe('import math\na = 1\nb = 2\nc = 300');
    await page.keyboard.type('7');
    await expect.poll(() => host.document.get('cell-0').cell.source).toBe('import math\na = 1\nb = 2\nc = 3007');
    await page.locator('.badge', { hasText: 'Claude edited this cell' }).waitFor();
    expect(faults).toEqual([]);
  });

  it("undo in the editor takes back the person's typing, not the agent's change", drivesBrowser, async () => {
    const host = await stage.host({ cells: [{ source: 'a = 1\nb = 2' }] });
    const { page } = await stage.window(host);
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('3');
    await expect.poll(() => host.document.get('cell-0').cell.source).toBe('a = 1\nb = 23');
    host.document.update('cell-0', 'a = 9\nb = 23', { by: claude });
    await page.locator('.cm-line', { hasText: 'a = 9' }).waitFor();
    await page.keyboard.press('Control+z');
    await expect.poll(() => host.document.get('cell-0').cell.source).toBe('a = 9\nb = 2');
  });

  for (const [keep, expected] of [
    ['Keep mine', 'a = 1 + 1'],
    ['Take theirs', 'a = 2'],
  ] as const)
    it(`asks when they write in one line: ${keep}`, drivesBrowser, async () => {
      const host = await stage.host({ cells: [{ source: 'a = 1' }] });
      const { page } = await stage.window(host);
      await page.locator('.cm-content').click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(' + 1');
      host.document.update('cell-0', 'a = 2', { by: claude });
      const clash = page.getByRole('alert').filter({ hasText: 'Claude changed the lines' });
      await clash.waitFor();
      expect(await page.locator('.cm-content').textContent()).toBe('a = 1 + 1');
      expect(host.document.get('cell-0').cell.source).toBe('a = 2');
      await clash.getByRole('button', { name: keep }).click();
      await expect.poll(() => host.document.get('cell-0').cell.source).toBe(expected);
      await expect.poll(() => page.locator('.cm-content').textContent()).toBe(expected);
      expect(await clash.count()).toBe(0);
    });

  it('saves the text of a cell that the agent deletes', drivesBrowser, async () => {
    const host = await stage.host({ cells: [{ source: 'keep' }, { source: 'work' }] });
    const { page } = await stage.window(host);
    await page.locator('.cm-content').nth(1).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' of hours');
    host.document.delete('cell-1', { by: claude });
    await page.getByRole('button', { name: 'Put my text into a new cell' }).click();
    await expect.poll(() => host.document.cells.map(({ source }) => source)).toEqual(['keep', 'work of hours']);
  });

  it('types on when the agent deletes the cell: no letter is a command, and none is lost', {
    ...drivesBrowser,
    tags: ['P-747'],
  }, async () => {
    const host = await stage.host({ cells: [{ source: 'keep' }, { source: '' }, { source: 'last' }] });
    const { page, faults } = await stage.window(host);
    await page.locator('.cm-content').nth(1).click();
    await page.keyboard.type('the inde');
    host.document.delete('cell-1', { by: claude });
    await expect.poll(() => page.locator('.cm-content').count()).toBe(2);
    await page.keyboard.type('x of db add exists');
    expect(host.document.cells.map(({ source }) => source)).toEqual(['keep', 'last']);
    await page.getByRole('button', { name: 'Put my text into a new cell' }).click();
    await expect.poll(() => host.document.cells.at(-1)?.source).toMatch(/x of db add exists$/);
    // The person has seen it now, and means what the keys mean.
    await page.locator('.cell').nth(1).locator('.cm-content').click();
    await page.keyboard.press('Escape');
    await page.keyboard.press('x');
    await expect.poll(() => host.document.cells.map(({ source }) => source)).toEqual(['keep', expect.stringMatching(/exists$/)]);
    expect(faults).toEqual([]);
  });

  it('leads to the cell in which the agent works', drivesBrowser, async () => {
    const host = await stage.host({ cells: Array.from({ length: 80 }, (_, index) => ({ source: `x = ${index}` })) });
    const { page } = await stage.window(host);
    host.document.update('cell-70', 'x = "new"', { by: claude });
    await page.locator('.hint', { hasText: 'Claude is working in cell 71' }).getByRole('button', { name: 'Show' }).click();
    const target = page.locator('[data-cell-id=cell-70]');
    await expect
      .poll(() => target.evaluate((cell) => cell.getBoundingClientRect().top < innerHeight && cell.getBoundingClientRect().top > 0))
      .toBe(true);
    await target.locator('.cm-content', { hasText: 'new' }).waitFor();
  });

  it('two windows agree, whoever writes', drivesBrowser, async () => {
    const host = await stage.host({ cells: [{ source: 'a' }, { source: 'b' }] });
    const [first, second] = [await stage.window(host), await stage.window(host)];
    await first.page.locator('.cm-content').first().click();
    await first.page.keyboard.press('Control+End');
    await first.page.keyboard.type('lpha');
    await second.page.locator('.cm-content').first().filter({ hasText: 'alpha' }).waitFor();
    await second.page.locator('.cm-content').nth(1).click();
    await second.page.keyboard.press('Control+End');
    await second.page.keyboard.type('eta');
    await second.page.keyboard.press('Escape');
    await second.page.keyboard.press('a');
    await expect.poll(() => host.document.cells.map(({ source }) => source)).toEqual(['alpha', '', 'beta']);
    const texts = (page: typeof first.page) => page.locator('.cm-content').allTextContents();
    await expect.poll(() => texts(first.page)).toEqual(['alpha', '', 'beta']);
    expect(await texts(second.page)).toEqual(['alpha', '', 'beta']);
    expect([...first.faults, ...second.faults]).toEqual([]);
  });

  it('two persons typing in one cell lose nothing', { ...drivesBrowser, tags: ['P-105'] }, async () => {
    const host = await stage.host({ cells: [{ source: 'first\n\nlast' }] });
    const [one, two] = [await stage.window(host), await stage.window(host)];
    await one.page.locator('.cm-content').click();
    await one.page.keyboard.press('Control+Home');
    await two.page.locator('.cm-content').click();
    await two.page.keyboard.press('Control+End');
    await Promise.all([one.page.keyboard.type('the very ', { delay: 60 }), two.page.keyboard.type(' one of all', { delay: 60 })]);
    await expect.poll(() => host.document.get('cell-0').cell.source).toBe('the very first\n\nlast one of all');
  });
});
