// @module-tag deep

import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, describe, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import type { CellContent } from '../../src/model/cell.js';
import { Stage } from './support/browser.js';
import { hostileContent } from './support/hostile-outputs.js';
import { realisticCells } from './support/realistic.js';

/** Pictures for people: `NOTEBOOK_SHOTS=/some/folder npx vitest run packages/notebook/test/ui/looks.test.ts`. */
const folder = process.env.NOTEBOOK_SHOTS;
const claude = { kind: 'agent', name: 'Claude Code' } as const;

describe('looks', () => {
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  for (const width of [360, 1024, 1600])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`a window looks as it should at ${width} pixels, ${colorScheme}`, { ...drivesBrowser, timeout: 120_000 }, async ({ skip }) => {
        skip(!folder, 'pictures are for people to look at: name a folder in NOTEBOOK_SHOTS');
        skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
        const host = await stage.host({ cells: realisticCells(), agents: [{ id: 'a1', name: claude.name }] });
        const { page, faults } = await stage.window(host, { colorScheme, viewport: { width, height: 900 } });
        const shoot = (name: string) => page.screenshot({ path: join(folder ?? '', `${width}-${colorScheme}-${name}.png`) });
        await page
          .locator('.prose h1')
          .waitFor()
          .catch((error) => {
            throw new Error(faults.join('\n'), { cause: error });
          });
        await act(page, host);
        await shoot('1-top');
        await page.locator('.image-output').scrollIntoViewIfNeeded();
        await page.waitForTimeout(300);
        await shoot('2-plot');
        await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2));
        await page.locator('.cell').nth(5).scrollIntoViewIfNeeded();
        await page.locator('.cell').nth(7).scrollIntoViewIfNeeded();
        await page.waitForTimeout(300);
        await shoot('3-error');
        await page.locator('.changes-button').click();
        host.setFile({ kind: 'conflict', found: 'changed', detail: 'Both versions are kept until you choose.' });
        await page.waitForTimeout(300);
        await shoot('4-drawer');
        await page.keyboard.press('Escape');
        await page.evaluate(() => scrollTo(0, 0));
        await page.locator('.cell').nth(2).locator('.cm-content').click();
        await page.keyboard.press('Control+End');
        await page.keyboard.type('  # mine');
        host.document.update('cell-2', host.document.get('cell-2').cell.source.replace('{city:<10}', '{city:<12}'), { by: claude });
        await page.locator('.clash').waitFor();
        await page.locator('.clash').scrollIntoViewIfNeeded();
        await page.waitForTimeout(300);
        await shoot('5-clash');
        await page.keyboard.press('Escape');
        await page.keyboard.press('?');
        await page.waitForTimeout(200);
        await shoot('6-help');
        await page.keyboard.press('Escape');
        await page.keyboard.press('Control+f');
        await page.keyboard.type('rain');
        await page.keyboard.press('Enter');
        await page.waitForTimeout(300);
        await shoot('8-find');
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Notebook menu' }).click();
        await shoot('9-menu');
        await page.getByRole('menuitem', { name: 'Outline' }).click();
        await shoot('10-outline');
        await page.getByRole('button', { name: 'Close outline' }).click();
        await page.locator('.cell').nth(1).locator('.cm-content').click();
        await page.keyboard.press('Escape');
        await page.keyboard.press('Shift+ArrowDown');
        await page.locator('.cell.selected').hover();
        await page.waitForTimeout(300);
        await shoot('13-several');
        await page.keyboard.press('Shift+L');
        await page.locator('.foot').getByRole('button', { name: 'Add a code cell here' }).click();
        await page.keyboard.type('p');
        await page.keyboard.press('Control+Space');
        await page.locator('.cm-tooltip-autocomplete').waitFor();
        await shoot('11-completion');
        await page.keyboard.press('Enter');
        await page.keyboard.press('Shift+Tab');
        await page.waitForTimeout(600);
        await shoot('12-documentation');
        await page.keyboard.press('Escape');
        await page.keyboard.press('Escape');
        host.isRefusing = true;
        host.dropWindows();
        await page.locator('.banner', { hasText: 'connection' }).waitFor();
        await shoot('7-lost');
      });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`empty ${colorScheme}`, async ({ skip }) => {
      skip(!folder, 'pictures are for people to look at: name a folder in NOTEBOOK_SHOTS');
      skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
      const host = await stage.host({ cells: [], agents: [{ id: 'a1', name: claude.name }] });
      const { page } = await stage.window(host, { colorScheme, viewport: { width: 1024, height: 500 } });
      await page.waitForTimeout(500);
      await page.screenshot({ path: join(folder ?? '', `empty-${colorScheme}.png`) });
    });

  for (const width of [360, 1024, 1600])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`hostile ${width} ${colorScheme}`, async ({ skip }) => {
        skip(!folder, 'pictures are for people to look at: name a folder in NOTEBOOK_SHOTS');
        skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
        const agents = ['You', '\u202eedualC'].map((name, index) => ({ id: String(index), name }));
        const host = await stage.host({ cells: hostileCells(), agents });
        const { page } = await stage.window(host, { colorScheme, viewport: { width, height: 2400 } });
        host.document.update('cell-0', 'x = 1', { by: { kind: 'agent', name: 'No agent connected' } });
        await page.waitForTimeout(3000);
        await page.screenshot({ path: join(folder ?? '', `hostile-${width}-${colorScheme}.png`) });
      });
});

/** Some of each kind. */
function hostileCells(): Partial<CellContent>[] {
  const wanted =
    /^(?:code that hides|html: position:fixed|html: <div class="hint|markdown: <div class="drawer|html: a table of 100,000|svg: use of use|markdown: 3,000 quotes|markdown: a table|an image of 3|one long coloured|html: outline|markdown: margin|markdown: tasks|300,000 char|style: calc)/;
  const chosen = hostileContent().filter(({ name }) => wanted.test(name));
  return [
    { source: 'x = 0' },
    ...chosen.map((each): Partial<CellContent> => {
      if ('markdown' in each) return { type: 'markdown', source: each.markdown };
      return 'code' in each ? { source: each.code } : { source: `show("${each.name}")`, outputs: each.outputs };
    }),
  ];
}

async function act(page: Page, host: Awaited<ReturnType<Stage['host']>>): Promise<void> {
  host.document.update(
    'cell-1',
    'import pandas as pd\n\nrain = pd.read_csv("rain.csv", parse_dates=["day"])\nrain.describe().round(2)  # one column per city',
    { by: claude },
  );
  host.document.insert(6, { type: 'markdown', source: 'Oslo is not in the file, so I leave it out.' }, { by: claude });
  void host.session.run('cell-7', { by: claude }).catch(() => {});
  await page.locator('.hint').waitFor();
  await page.waitForTimeout(400);
}
