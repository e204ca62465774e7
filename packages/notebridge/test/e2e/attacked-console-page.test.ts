// @module-tag P-517

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { ConsoleTab } from '../support/console-page.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

interface CallsAnswer {
  calls: { id: string }[];
}

const executablePath = findChromium();
describe.skipIf(executablePath === undefined)(`the console's page${executablePath === undefined ? ': no Chromium here' : ''}`, () => {
  let hub: ServedHub;
  let browser: Browser;
  beforeAll(async () => {
    const evil = { command: process.execPath, args: [fixtureServer('against-console.mjs')] };
    hub = await ServedHub.start({ servers: { evil }, args: ['--notebook', 'none'] });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await hub?.[Symbol.asyncDispose]();
  });

  it('is not ended by a name that has no place in an address', drivesBrowser, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await tab.go('#/try/evil');
    await page.getByLabel('Tool').selectOption('\ud800x');
    await page.getByText('It has no tool of this name').waitFor();
    await tab.go('#/servers/evil');
    await page.getByText('\\u{d800}x').first().click();
    await page.getByRole('link', { name: 'Try it out' }).first().waitFor();
  });

  for (const { cells, tags } of coreAndDeep<[string, number]>(
    [
      ['escapes', 800_000],
      ['hidden', 2_500_000],
      ['structured', 1_900_000],
      ['blocks', 50_000],
      ['deep', 2000],
      ['image', 6_000_000],
      ['text', 6_000_000],
      // It stood still for minutes: each wait here ends after half a minute.
    ],
    (_, index) => index === 4,
  )) {
    it.each(cells)('does not stand still over a result with %s', { ...drivesBrowser, tags }, async (kind, n) => {
      await using tab = await ConsoleTab.open(browser, hub);
      const { page } = tab;
      await hub.call('evil', 'big', { kind, n }, hub.ownerToken);
      // Not by the list's first link: until the page has heard of this call, that is the one before.
      const { calls } = (await (await hub.request('/api/v1/hub/calls?limit=1', { token: hub.ownerToken })).json()) as CallsAnswer;
      await tab.go(`#/calls/${calls[0]?.id}`);
      const result = page.getByRole('region', { name: 'Result' });
      if (kind === 'deep') await result.getByText(/not kept/i).waitFor();
      else await result.getByLabel('As it came').setChecked(kind !== 'blocks' && kind !== 'image');
      await page.getByRole('link', { name: 'Overview', exact: true }).click();
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    });
  }

  it('has arguments typed as JSON where a form would have thousands of fields, or odd names', drivesBrowser, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await tab.go('#/try/evil/many');
    await page.getByLabel('Arguments, as JSON').waitFor();
    await tab.go('#/try/evil/proto');
    await page.getByRole('textbox', { name: '__proto__ text' }).fill('x');
    await page.getByText('{"__proto__":"x"}').first().waitFor();
  });
});
