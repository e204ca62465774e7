// @module-tag deep

import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import type { ToolAccess } from '../../src/viewer/protocol.js';
import { Stage } from './support/browser.js';
import { realisticCells } from './support/realistic.js';

const access: ToolAccess = {
  servers: [{ name: 'filesystem', tools: 14 }, { name: 'everything' }],
  allowed: true,
  grant: 'g_0123456789ab',
};
const noBrowser = 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set';
/** Pictures for people: a folder for them. */
const folder = process.env.NOTEBOOK_SHOTS;

describe('the tools of the notebook’s code in the window', () => {
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('names the servers, says more when pressed, and takes the right away', drivesBrowser, async ({ skip }) => {
    skip(!findChromium(), noBrowser);
    const host = await stage.host({ cells: [{ source: 'print 1' }], tools: access });
    const { page, faults } = await stage.window(host);
    const button = page.getByRole('button', { name: 'Tools: filesystem, everything' });
    await button.click();
    const dialog = page.getByRole('dialog', { name: 'Tools for Python' });
    expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^filesystem\s+14 tools$/),
      expect.stringMatching(/^everything\s+…$/),
    ]);
    expect(await dialog.innerText()).toContain('g_0123456789ab');
    const toggle = dialog.getByRole('switch', { name: 'Python here may call tools' });
    expect(await toggle.getAttribute('aria-checked')).toBe('true');
    await toggle.click();
    await dialog.getByText('was taken away').waitFor();
    expect(await toggle.getAttribute('aria-checked')).toBe('false');
    expect(host.asked).toContainEqual({ do: 'setToolAccess', allowed: false });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Tools: off' }).waitFor();
    host.setTools({ ...access, servers: [{ name: 'github', tools: 1 }] });
    await page.getByRole('button', { name: 'Tools: github' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('shows nothing where there is nothing to call, and closes what was open about it', drivesBrowser, async ({ skip }) => {
    skip(!findChromium(), noBrowser);
    const host = await stage.host({ cells: [] });
    const { page, faults } = await stage.window(host);
    expect(await page.locator('.reach').isVisible()).toBe(false);
    host.setTools(access);
    await page.locator('.reach').click();
    host.setTools(null);
    await page.locator('.reach-dialog').waitFor({ state: 'detached' });
    await page.locator('.reach').waitFor({ state: 'hidden' });
    expect(faults).toEqual([]);
  });

  it('fits a window of 360 pixels, with long names too', drivesBrowser, async ({ skip }) => {
    skip(!findChromium(), noBrowser);
    const servers = [
      { name: `a-${'very-'.repeat(30)}long-name`, tools: 3 },
      { name: '<b>other</b>', tools: 1 },
    ];
    const host = await stage.host({ cells: [], tools: { ...access, servers }, agents: [{ id: 'a', name: 'Claude Code' }] });
    const { page, faults } = await stage.window(host, { viewport: { width: 360, height: 700 } });
    await page.locator('.reach').click();
    await page.getByText('<b>other</b>', { exact: true }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    const box = await page.locator('.reach-dialog').boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
    expect(faults).toEqual([]);
  });

  for (const width of [360, 1280])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`looks right: ${width} ${colorScheme}`, drivesBrowser, async ({ skip }) => {
        skip(!folder, 'pictures are for people to look at: name a folder in NOTEBOOK_SHOTS');
        skip(!findChromium(), noBrowser);
        const host = await stage.host({ cells: realisticCells(), tools: access, agents: [{ id: 'a', name: 'Claude Code' }] });
        const { page } = await stage.window(host, { colorScheme, viewport: { width, height: 700 } });
        await page.screenshot({ path: join(folder ?? '', `tools-${width}-${colorScheme}-bar.png`) });
        await page.locator('.reach').click();
        await page.screenshot({ path: join(folder ?? '', `tools-${width}-${colorScheme}-dialog.png`) });
      });
});
