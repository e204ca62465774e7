// @module-tag deep
// @module-tag P-110

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';

describe('large notebooks', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('2,000 cells stay usable: few editors, quick to type, to go to the end and to insert', {
    ...drivesBrowser,
    timeout: 60_000,
  }, async () => {
    const cells = Array.from({ length: 2000 }, (_, index) => ({
      type: index % 5 === 0 ? ('markdown' as const) : ('code' as const),
      source: index % 5 === 0 ? `## Part ${index}` : `value_${index} = ${index}\nprint(value_${index})`,
      outputs: index % 5 === 0 ? [] : [{ output_type: 'stream' as const, name: 'stdout', text: `${index}\n` }],
    }));
    const host = await stage.host({ cells });
    const { page, faults } = await stage.window(host);
    await page.locator('.cell').nth(1999).waitFor({ state: 'attached' });
    await page.locator('.cm-content').first().waitFor();
    expect(await page.locator('.cm-editor').count()).toBeLessThan(80);
    for (let step = 0; step < 30; step++) await page.evaluate((part) => scrollTo(0, (document.body.scrollHeight * part) / 30), step);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.locator('[data-cell-id=cell-1999] .cm-content').click();
    expect(await page.locator('.cm-editor').count()).toBeLessThan(80);
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' # the end');
    await expect.poll(() => host.document.get('cell-1999').cell.source).toContain('# the end');
    await page.keyboard.press('Escape');
    await page.keyboard.press('b');
    await expect.poll(() => host.document.cells.length).toBe(2001);
    expect(faults).toEqual([]);
  });

  it('a cell that prints without end does not stop the page', { ...drivesBrowser, timeout: 90_000 }, async () => {
    const lines = (count: number) =>
      Array.from({ length: count }, (_, line) => ({
        output_type: 'stream' as const,
        name: 'stdout',
        text: `line ${line} \u001b[32mok\u001b[0m\n`,
      }));
    const host = await stage.host({ cells: [{ source: 'flood' }], scenes: { flood: () => lines(20_000) } });
    const { page } = await stage.window(host);
    await page.keyboard.press('Control+Enter');
    await page.locator('.text-output', { hasText: 'line 19999' }).waitFor({ timeout: 60_000 });
    await page.keyboard.press('b');
    await expect.poll(() => page.locator('.cell').count()).toBe(2);
  });
});
