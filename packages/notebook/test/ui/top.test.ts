// @module-tag P-697

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { coreAndDeep } from '../../../notebridge/test/support/core-and-deep.js';
import { Stage } from './support/browser.js';

describe('what stands at the top', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  const covers = async (width: number): Promise<void> => {
    const cells = Array.from({ length: 30 }, (_, at) => ({ source: `x = ${at}\ny = ${at}` }));
    const host = await stage.host({ cells });
    const { page, faults } = await stage.window(host, { viewport: { width, height: 700 } });
    const banner = page.locator('.banner');
    const topOf = (at: number) =>
      page
        .locator('.cell')
        .nth(at)
        .evaluate((cell) => cell.getBoundingClientRect().top);
    const barEnd = () => page.locator('.bar').evaluate((bar) => bar.getBoundingClientRect().bottom);
    const bannerEnd = () => page.locator('.banners').evaluate((each) => each.getBoundingClientRect().bottom);
    // In the middle of the notebook, where the browser keeps what is seen in its place.
    await page
      .locator('.cell')
      .nth(12)
      .evaluate((cell) => {
        const bar = document.querySelector('.bar')?.getBoundingClientRect().bottom ?? 0;
        scrollBy(0, cell.getBoundingClientRect().top - bar - 4);
      });
    await expect.poll(async () => (await topOf(12)) - (await barEnd())).toBeCloseTo(4, 0);
    host.setFile({ kind: 'failed', detail: 'The disk is full. '.repeat(6) });
    await banner.waitFor();
    await expect.poll(async () => (await topOf(12)) - (await bannerEnd())).toBeGreaterThanOrEqual(0);
    await page
      .locator('.cell')
      .nth(3)
      .evaluate((cell) => cell.scrollIntoView({ block: 'nearest' }));
    await expect.poll(async () => (await topOf(3)) - (await bannerEnd())).toBeGreaterThanOrEqual(0);
    host.setFile({ kind: 'saved' });
    await banner.waitFor({ state: 'detached' });
    expect(await page.locator('.middle').evaluate((middle) => getComputedStyle(middle).marginTop)).toBe('0px');
    expect(faults).toEqual([]);
  };
  for (const { cells: widths, tags } of coreAndDeep([1024, 360], (width) => width === 360))
    it.each(widths)(
      'covers no cell when a banner comes, nor one that is gone to, at %i pixels; and gives the room back',
      { ...drivesBrowser, tags },
      covers,
    );

  it('has the name of the agent whole at 360 pixels', drivesBrowser, async () => {
    const holder = { id: 'a', name: 'Claude Code', since: Date.now() };
    const tools = { servers: [{ name: 'everything', tools: 12 }], allowed: true, grant: 'g1' };
    const lease = { holder, asking: [], barred: [] };
    const host = await stage.host({ cells: [{ source: '' }], title: 'analysis.ipynb', agents: [holder], lease, tools });
    const { page } = await stage.window(host, { viewport: { width: 360, height: 700 } });
    const name = page.locator('.agent-name');
    expect(await name.innerText()).toBe('Claude Code');
    expect(await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(1);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });
});
