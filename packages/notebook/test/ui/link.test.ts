// @module-tag deep

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';

const claude = { kind: 'agent', name: 'Claude' } as const;

describe('the connection', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('comes back by itself, and what was typed and what happened meanwhile are both there', {
    ...drivesBrowser,
    tags: ['P-107'],
  }, async () => {
    const host = await stage.host({ cells: [{ source: 'a = 1\nb = 2' }, { source: '' }] });
    const { page, faults } = await stage.window(host);
    await page.locator('.cm-content').first().click();
    await page.keyboard.press('Control+End');
    host.isRefusing = true;
    host.dropWindows();
    await page.getByRole('alert').filter({ hasText: 'connection to the notebook is lost' }).waitFor();
    await page.keyboard.type('5');
    host.document.update('cell-0', 'a = 9\nb = 2', { by: claude });
    host.document.insert(2, { type: 'code', source: 'new' }, { by: claude });
    host.isRefusing = false;
    await expect.poll(() => host.document.get('cell-0').cell.source).toBe('a = 9\nb = 25');
    await expect.poll(() => page.locator('.cell').count()).toBe(3);
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await page.keyboard.type('!');
    await expect.poll(() => host.document.get('cell-0').cell.source).toBe('a = 9\nb = 25!');
    expect(faults).toEqual([]);
  });

  it('a reload in the middle of a run loses neither the run nor the last letters', { ...drivesBrowser, tags: ['P-107'] }, async () => {
    const host = await stage.host({ cells: [{ source: 'print before\nwait\nprint after' }, { source: 'x' }] });
    const { page, faults } = await stage.window(host);
    await page.getByRole('button', { name: 'Run cell 1' }).click();
    await page.locator('.stream-output', { hasText: 'before' }).waitFor();
    await page.locator('.cm-content').nth(1).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('yz');
    await page.reload();
    await page.locator('.cell.running').waitFor();
    host.kernel.finish();
    await page.locator('.stream-output', { hasText: 'after' }).waitFor();
    await expect.poll(() => host.document.get('cell-1').cell.source).toBe('xyz');
    expect(faults.filter((fault) => !fault.startsWith('dialog'))).toEqual([]);
  });

  it('tells when it never could connect, and tries again when told to', { ...drivesBrowser, tags: ['deep'] }, async () => {
    const host = await stage.host({ cells: [{ source: 'x' }] });
    const { page } = await stage.window(host);
    host.isRefusing = true;
    await page.clock.install();
    await page.reload();
    const banner = page.getByRole('alert').filter({ hasText: 'cannot be reached' });
    await banner.waitFor();
    // The link that opened it is used up.
    expect(await banner.textContent()).toContain('For a new link, ask your agent');
    // From here on it does not try again by itself; a try that is under way ends first.
    await page.clock.pauseAt(Date.now() + 60_000);
    const button = banner.getByRole('button', { name: 'Try now' });
    while (!(await button.isVisible())) await page.clock.runFor(100);
    host.isRefusing = false;
    // A real click waits for pictures, which stand still as well.
    await button.dispatchEvent('click');
    // Pictures are drawn by that clock too.
    await page.clock.resume();
    await page.locator('.cell').waitFor();
  });

  it('says why a request was refused', { ...drivesBrowser, tags: ['deep'] }, async () => {
    const host = await stage.host({ cells: [{ source: 'x' }] });
    const { page } = await stage.window(host);
    await page.keyboard.press('z');
    await page
      .getByRole('alert')
      .filter({ hasText: 'nothing with cells that could be taken back' })
      .getByRole('button', { name: 'Dismiss' })
      .click();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
