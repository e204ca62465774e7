// @module-tag deep

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';

const unhurried = { ...drivesBrowser, timeout: 120_000 };

describe('find and replace', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('counts, goes round, knows case and patterns, and shows where', unhurried, async () => {
    const host = await stage.host({
      cells: [{ source: 'rain = 1\nRain = 2' }, { type: 'markdown', source: '# About rain' }, { source: 'x = rain' }],
    });
    const { page, faults } = await stage.window(host);
    await page.locator('.cell.selected').waitFor();
    await page.keyboard.press('Control+f');
    await page.keyboard.type('rain');
    const count = page.locator('.find-count');
    await expect.poll(() => count.textContent()).toBe('4 found');
    await page.keyboard.press('Enter');
    await expect.poll(() => count.textContent()).toBe('1 of 4');
    expect(await page.locator('.cell').first().locator('.found').allTextContents()).toEqual(['rain', 'Rain']);
    await page.keyboard.press('Shift+Enter');
    await expect.poll(() => count.textContent()).toBe('4 of 4');
    expect(await page.locator('.cell.selected').getAttribute('data-cell-id')).toBe('cell-2');
    await page.getByRole('button', { name: 'Upper and lower case differ' }).click();
    await expect.poll(() => count.textContent()).toBe('3 found');
    await page.getByRole('button', { name: 'Regular expression' }).click();
    await page.getByLabel('Find', { exact: true }).fill('r.in$');
    await expect.poll(() => count.textContent()).toBe('2 found');
    await page.getByLabel('Find', { exact: true }).fill('(');
    await expect.poll(() => count.textContent()).toBe('Not a regular expression');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('search').count()).toBe(0);
    expect(await page.locator('.found').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('a pattern that would never end says so, and the window goes on', { ...unhurried, tags: ['P-256'] }, async () => {
    const host = await stage.host({ cells: [{ source: `x = "${'a'.repeat(200)}"\ny = 1` }, { source: 'y = 2' }] });
    const { page, faults } = await stage.window(host);
    await page.locator('.cell.selected').waitFor();
    await page.keyboard.press('Control+f');
    await page.getByRole('button', { name: 'Regular expression' }).click();
    const [field, count] = [page.getByLabel('Find', { exact: true }), page.locator('.find-count')];
    await field.fill('(a+)+b');
    // Meanwhile the window answers.
    await page.getByRole('button', { name: 'Upper and lower case differ' }).click();
    await expect.poll(() => count.textContent(), { timeout: 20_000 }).toBe('Takes too long');
    await field.fill('^y');
    await expect.poll(() => count.textContent()).toBe('2 found');
    await page.keyboard.press('Enter');
    await expect.poll(() => count.textContent()).toBe('1 of 2');
    expect(await page.locator('.found').allTextContents()).toEqual(['y', 'y']);
    await page.getByLabel('Replace by').fill('z$&');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await expect.poll(() => host.document.cells[1]?.source).toBe('zy = 2');
    expect(faults).toEqual([]);
  });

  it('replaces one, and all in one step that Z takes back', { ...unhurried, tags: ['P-230'] }, async () => {
    const host = await stage.host({ cells: [{ source: 'a1 = a2' }, { source: 'print(a3)' }] });
    const { page } = await stage.window(host);
    const sources = () => host.document.cells.map(({ source }) => source);
    await page.getByRole('button', { name: 'Notebook menu' }).click();
    await page.getByRole('menuitem', { name: 'Find and replace' }).click();
    await page.getByRole('button', { name: 'Regular expression' }).click();
    await page.getByLabel('Find', { exact: true }).fill('a(\\d)');
    await page.getByLabel('Replace by').fill('b$1');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await expect.poll(sources).toEqual(['b1 = a2', 'print(a3)']);
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await expect.poll(sources).toEqual(['b1 = b2', 'print(b3)']);
    await page.keyboard.press('Escape');
    await page.keyboard.press('z');
    await expect.poll(sources).toEqual(['b1 = a2', 'print(a3)']);
  });
});
