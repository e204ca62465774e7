// @module-tag deep
// @module-tag P-485

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { ConsoleTab } from '../support/console-page.js';
import { openLegacyAgent, openModernAgent } from '../support/http-agent.js';
import { installedServer, ServedHub } from '../support/served-hub.js';

const executablePath = findChromium();
const files = fileURLToPath(new URL('../../dist/console-page', import.meta.url));
/** Each view, and what it has when it is drawn. */
const views = [
  ['#/overview', 'Who calls whom'],
  ['#/calls', 'everything · echo'],
  ['#/calls/1', 'Result'],
  ['#/servers', 'everything'],
  ['#/servers/everything', 'Last lines of its log'],
  ['#/try/everything/get-sum', 'The same call from elsewhere'],
  ['#/notebooks', 'Take over'],
  ['#/grants', 'Live'],
  ['#/connect', 'A notebook page'],
] as const;
const looks = [360, 1024, 1600].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })));

interface AxeAnswer {
  violations: { id: string; nodes: { html: string }[] }[];
}

describe("the files of the console's page", () => {
  it('are small, and each names its licence', () => {
    const first = ['index.html', 'console.js', 'console.css', ...importsOf('console.js')];
    const bytes = first.reduce((sum, file) => sum + gzipSync(readFileSync(join(files, file))).length, 0);
    expect(bytes).toBeLessThan(150_000);
    expect(readFileSync(join(files, 'licences.txt'), 'utf8')).toContain('preact');
  });

  it('hold no inline script or style, and nothing that makes markup of text', () => {
    expect(readFileSync(join(files, 'index.html'), 'utf8')).not.toMatch(/<script>|<style|\son\w+=|style=|https?:/);
    for (const file of readdirSync(files).filter((name) => name.endsWith('.js')))
      expect(readFileSync(join(files, file), 'utf8')).not.toMatch(/\beval\(|new Function|document\.write|insertAdjacentHTML/);
  });
});

/** What a script needs before it runs. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(files, file), 'utf8');
  return [...text.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)]
    .map(([, name = '']) => name)
    .filter((name) => existsSync(join(files, name)));
}

describe.skipIf(executablePath === undefined)(`the looks of the console${executablePath === undefined ? ': no Chromium here' : ''}`, () => {
  let hub: ServedHub;
  let browser: Browser;
  beforeAll(async () => {
    const broken = { command: process.execPath, args: ['-e', 'process.exit(3)'] };
    hub = await ServedHub.start({
      servers: { everything: installedServer('everything'), broken },
      args: ['--notebook', 'local', '--no-browser'],
    });
    await hub.call('everything', 'echo', { message: 'x'.repeat(500) }, hub.ownerToken);
    await hub.call('everything', 'get-sum', { a: 'a' }, hub.ownerToken);
    await hub.grant('--label', 'nightly', '--allow', 'everything:get-*');
    const agent = await hub.grant('--label', 'of the notebook', '--agent', '--allow', '*:*');
    const send = await openLegacyAgent(hub, () => agent.token, 'Writer');
    await send('tools/call', { name: 'add_text_cell', arguments: { cellIndex: 0, content: 'x' } });
    await openModernAgent(hub, () => hub.ownerToken)('tools/list');
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await hub?.[Symbol.asyncDispose]();
  });

  it.each(looks)('have no fault that axe finds, one h1, and nothing beyond the edge: $width in $scheme', drivesBrowser, async (look) => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await page.setViewportSize({ width: look.width, height: 900 });
    await page.emulateMedia({ colorScheme: look.scheme, reducedMotion: 'reduce' });
    await page.evaluate(axe.source);
    for (const [view, text] of views) {
      await tab.go(view);
      await page.locator('main').getByText(text, { exact: true }).first().waitFor();
      await expectNoFault(page, view);
    }
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await page.evaluate(axe.source);
    await expectNoFault(page, 'signed out');
  });
});

async function expectNoFault(page: Page, view: string): Promise<void> {
  const { violations } = await page.evaluate<AxeAnswer>('axe.run()');
  const [headings, beyond] = await page.evaluate<[number, number]>(
    "[document.querySelectorAll('h1').length, Math.max(0, document.documentElement.scrollWidth - innerWidth)]",
  );
  const faults = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  expect({ view, faults, headings, beyond }).toEqual({ view, faults: [], headings: 1, beyond: 0 });
}
