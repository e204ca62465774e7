// @module-tag deep
// @module-tag P-231

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';
import type { TestHost } from './support/host.js';

const unhurried = { ...drivesBrowser, timeout: 120_000 };

describe('runs', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  const open = async (...sources: string[]) => {
    const host = await stage.host({ cells: sources.map((source) => ({ source })) });
    return { host, ...(await stage.window(host)) };
  };
  const counts = (host: TestHost) => host.document.cells.map(({ executionCount }) => executionCount);

  it('a run of all cells ends at the first that fails, and says so', unhurried, async () => {
    const { host, page, faults } = await open('print a', 'fail here', 'print b', 'print c');
    await page.getByRole('button', { name: 'Run all cells' }).click();
    await page.locator('.banner', { hasText: 'Cell 2 did not end well, so 2 cells after it did not run.' }).waitFor();
    expect(counts(host)).toEqual([1, 2, null, null]);
    expect(host.session.queued).toEqual([]);
    await expect.poll(() => page.locator('.cell.selected').getAttribute('data-cell-id')).toBe('cell-1');
    expect(faults).toEqual([]);
  });

  it('a run of all cells goes on when the window is reloaded', unhurried, async () => {
    const { host, page } = await open('wait', 'print b');
    await page.getByRole('button', { name: 'Run all cells' }).click();
    await page.locator('.cell.running').waitFor();
    await page.reload();
    await page.locator('.cell.running').waitFor();
    host.kernel.finish();
    await page.locator('.stream-output', { hasText: 'b' }).waitFor();
    expect(counts(host)).toEqual([1, 2]);
  });

  it('above, below, and of all after a restart, by the menu', unhurried, async () => {
    const { host, page } = await open('print a', 'print b', 'print c');
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'Notebook menu' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await page.keyboard.press('j');
    await choose('Run all above');
    await expect.poll(() => counts(host)).toEqual([1, null, null]);
    await choose('Run this one and all below');
    await expect.poll(() => counts(host)).toEqual([1, 2, 3]);
    await choose('Restart and run all…');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Restart and run all' }).click();
    await expect.poll(() => host.asked.at(-1)).toEqual({ do: 'runAll', restart: true });
    await expect.poll(() => host.session.queued.length === 0 && counts(host).join()).toBe('1,2,3');
  });

  it('show how long they take, and took, also after a reload', unhurried, async () => {
    const { host, page } = await open('wait');
    await page.keyboard.press('Control+Enter');
    await page.locator('.run-time', { hasText: /^0\.[3-9] s|^[1-9]/ }).waitFor();
    host.kernel.finish();
    await page.locator('.cell:not(.running)').waitFor();
    const took = await page.locator('.run-time').textContent();
    expect(took).toMatch(/^\d+\.\d s$/);
    await page.reload();
    await expect.poll(() => page.locator('.run-time').textContent()).toBe(took);
  });
});
