// @module-tag deep

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { consoleAddress } from '../support/console-page.js';
import { nobody, startChromiumAs, whyNoOther } from '../support/other-user.js';
import { ServedHub } from '../support/served-hub.js';

const why = whyNoOther ?? (findChromium() === undefined ? 'no Chromium on this machine' : undefined);

describe.skipIf(why !== undefined)(`a Chromium of another user${why === undefined ? '' : ` (${why})`}`, () => {
  it('opens nothing by any of 100 addresses, and by a code that is typed', {
    ...drivesBrowser,
    timeout: 600_000,
    tags: ['P-645', 'P-646'],
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'foreign-chromium-'));
    try {
      await using hub = await ServedHub.start({ args: ['--notebook', join(folder, 'a.ipynb')] });
      await using foreign = await startChromiumAs(nobody, findChromium() ?? '');
      const browser = await chromium.connectOverCDP(foreign.address);
      const page = await browser.newPage();
      const ask = async (path: string, body?: object) =>
        (await (await hub.request(`/api/v1/hub/notebooks${path}`, { token: hub.ownerToken, body })).json()) as {
          address: string;
          notebooks: { id: string }[];
        };
      const { notebooks } = await ask('');
      let opened = 0;
      for (let count = 0; count < 100; count++) {
        const isConsole = count % 2 === 0;
        const address = isConsole ? await consoleAddress(hub) : (await ask(`/${notebooks[0]?.id}/address`, {})).address;
        await page.goto(address);
        const form = page.getByRole('textbox', { name: 'Code' });
        const inside = isConsole ? page.getByRole('status').filter({ hasText: /^live$/ }) : page.locator('h1.title');
        await form.or(inside).first().waitFor();
        if (!(await form.isVisible())) opened++;
      }
      process.stdout.write(`Another user opened ${opened} of 100 addresses.\n`);
      expect(opened).toBe(0);
      const type = async (): Promise<void> => {
        await page.getByRole('textbox', { name: 'Code' }).fill((await hub.run('code')).stdout.trim());
        await page.getByRole('button', { name: 'Open', exact: true }).click();
      };
      await type();
      await page.locator('h1.title').waitFor();
      await page.goto(await consoleAddress(hub));
      await type();
      await page
        .getByRole('status')
        .filter({ hasText: /^live$/ })
        .waitFor();
      await browser.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
