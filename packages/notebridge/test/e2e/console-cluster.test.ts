// @module-tag deep

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { ConsoleTab } from '../support/console-page.js';
import { HubCluster } from '../support/hub-cluster.js';
import { whyNoNats } from '../support/nats.js';
import { ServedHub } from '../support/served-hub.js';

const executablePath = findChromium();
const callsServer = fileURLToPath(new URL('../fixtures/servers/calls.mjs', import.meta.url));
const markup = '<img src=x onerror="document.title=1">\u202eb';
const looks = [360, 1024, 1600].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })));
const slow = { ...drivesBrowser, timeout: 240_000 };
const why = whyNoNats || (executablePath === undefined ? ': no Chromium here' : '');

describe.skipIf(why !== '')(`the console of a hub of a cluster${why}`, () => {
  let cluster: HubCluster;
  let folder: string;
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'console-cluster-'));
    writeFileSync(join(folder, 'count'), '');
    const one = { command: process.execPath, args: [callsServer, join(folder, 'count')], placement: 'one' };
    cluster = await HubCluster.start({ names: ['a', 'b'], servers: () => ({ one }) });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const rowOf = (page: Page, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${name}( |$)`) }) });

  it('names the hub, and its cluster', { ...drivesBrowser, tags: ['P-581'] }, async () => {
    await using tab = await ConsoleTab.open(browser, cluster.hub('a'));
    const { page } = tab;
    await page.getByRole('banner').getByText('Hub a', { exact: true }).waitFor();
    await page.getByRole('main').getByRole('link', { name: '2 hubs' }).click();
    await page.getByRole('heading', { name: 'Hubs', level: 1 }).waitFor();
    await rowOf(page, 'a').getByText('this one').waitFor();
    await rowOf(page, 'a').getByText(cluster.hub('a').url).waitFor();
    await rowOf(page, 'b').getByText('serving').waitFor();
    expect(await rowOf(page, 'b').getByText('this one').count()).toBe(0);
  });

  it('links to the console of another hub only by an address that means the same on every machine', {
    ...drivesBrowser,
    tags: ['P-582'],
  }, async () => {
    const addresses = [
      'http://127.0.0.1:1',
      'http://localhost:2',
      'http://[::1]:3',
      'javascript:alert(4)',
      'no address',
      'http://10.1.2.3:8765',
    ];
    await using tab = await ConsoleTab.open(browser, cluster.hub('a'), {
      // Hubs at addresses that a test has none at.
      prepare: (page) =>
        page.route('**/api/v1/hub', async (route) => {
          const response = await route.fetch();
          const status = (await response.json()) as { cluster: { hubs: object[] } };
          const [own, other] = status.cluster.hubs;
          const others = addresses.map((address, id) => ({ ...other, id, name: `h${id % 5}`, address }));
          await route.fulfill({ response, json: { ...status, cluster: { ...status.cluster, hubs: [own, ...others] } } });
        }),
    });
    const { page } = tab;
    await tab.go('#/hubs');
    await page.getByText('Several hubs are called h0').waitFor();
    for (const address of addresses) await page.getByText(address, { exact: true }).waitFor();
    const links = page.getByRole('table').locator('a[target]');
    expect(await links.evaluateAll((all: { href: string }[]) => all.map(({ href }) => href))).toEqual(['http://10.1.2.3:8765/console']);
    await page.getByText('An address with 127.0.0.1 is one of that machine alone').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('shows hubs as they come and go, what they have, and keeps their names inert', { ...slow, tags: ['P-581'] }, async () => {
    const runner = async (): Promise<string | undefined> => {
      const answer = await cluster.hub('a').request('/api/v1/hub', { token: cluster.hub('a').ownerToken });
      const { cluster: told } = (await answer.json()) as { cluster: { hubs: { name: string; servers: { count: number } }[] } };
      return told.hubs.find(({ servers }) => servers.count === 1)?.name;
    };
    await expect.poll(runner).toMatch(/^[ab]$/);
    const owner = (await runner()) ?? '';
    const other = owner === 'a' ? 'b' : 'a';
    await using tab = await ConsoleTab.open(browser, cluster.hub(other));
    const { page } = tab;
    await tab.go('#/servers');
    await page.getByText(`at ${owner}`, { exact: true }).waitFor();
    await tab.go('#/hubs');
    await rowOf(page, owner).getByRole('link', { name: 'one', exact: true }).waitFor();
    // A tab that is not seen asks for nothing by the clock: what it shows it was told of.
    await page.evaluate("Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })");
    const third = await cluster.add(markup);
    await page.getByText('3 hubs', { exact: true }).waitFor();
    await page.getByRole('rowheader', { name: '<img src=x onerror="document.title=1">\\u{202e}b' }).waitFor();
    expect(await page.evaluate("document.querySelectorAll('img[onerror]').length")).toBe(0);
    expect(await page.title()).toBe('Hubs – Notebridge');
    await page.evaluate('delete document.visibilityState');
    await third.stop();
    await page.getByText('2 hubs', { exact: true }).waitFor();
    await cluster.hub(owner).stop();
    await rowOf(page, other).getByRole('link', { name: 'one', exact: true }).waitFor();
    await rowOf(page, owner).waitFor({ state: 'detached' });
    await cluster.add(owner);
    await rowOf(page, owner).waitFor();
    await cluster.seen(other, [owner]);
  });

  it('shows a watcher the hubs too', { ...drivesBrowser, tags: ['P-581'] }, async () => {
    const { token } = await cluster.hub('a').grant('--door', 'watch');
    const page = await browser.newPage();
    await page.goto(`${cluster.hub('a').url}/console`);
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('navigation').getByRole('link', { name: 'Hubs' }).click();
    await rowOf(page, 'b').waitFor();
    await page.getByText('with the token that you have').waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    await page.close();
  });

  it.each(looks)('has no fault that axe finds and nothing beyond the edge: $width in $scheme', drivesBrowser, async (look) => {
    await using tab = await ConsoleTab.open(browser, cluster.hub('a'));
    await expectNoFault(tab, look);
  });

  it('says that NATS is lost, and what that means, until it is there again', {
    ...drivesBrowser,
    timeout: 120_000,
    tags: ['P-577'],
  }, async () => {
    await using tab = await ConsoleTab.open(browser, cluster.hub('a'));
    const { page } = tab;
    await cluster.nats.nodes[0]?.kill();
    const section = page.getByRole('region', { name: 'Not as it should be' });
    await section.getByText('This hub has lost the connection to NATS').waitFor();
    await section.getByText('This hub has lost NATS, and its place in the cluster. Grants are refused').waitFor();
    await page.getByRole('navigation').getByText('something is wrong with the cluster').waitFor({ state: 'attached' });
    await section.getByRole('link', { name: 'The hubs' }).click();
    await rowOf(page, 'a').getByText('not joined').waitFor();
    await rowOf(page, 'b').getByText('not known').waitFor();
    await page.getByText('not connected since').waitFor();
    for (const look of looks) await expectNoFault(tab, look);
    await cluster.nats.nodes[0]?.start();
    await rowOf(page, 'b').getByText('serving').waitFor();
    await page.getByText('This hub has lost NATS').waitFor({ state: 'detached' });
  });
});

describe.skipIf(executablePath === undefined)(
  `the console of a hub that is alone${executablePath === undefined ? ': no Chromium here' : ''}`,
  () => {
    it('has nothing of a cluster', { ...drivesBrowser, tags: ['P-576'] }, async () => {
      await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
      const browser = await openChromium();
      try {
        await using tab = await ConsoleTab.open(browser, hub);
        await tab.go('#/hubs');
        await tab.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
        expect(await tab.page.getByRole('link', { name: 'Hubs' }).count()).toBe(0);
        expect(await tab.page.locator('body').textContent()).not.toMatch(/cluster|NATS/);
      } finally {
        await browser.close();
      }
    });
  },
);

async function expectNoFault({ page }: ConsoleTab, { width, scheme }: (typeof looks)[number]): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  await page.evaluate(axe.source);
  for (const [view, text] of [
    ['#/overview', 'Who calls whom'],
    ['#/hubs', 'You look at'],
  ] as const) {
    await page.evaluate(`location.hash = ${JSON.stringify(view)}`);
    await page.getByRole('main').getByText(text, { exact: true }).waitFor();
    const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
    const faults = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    const beyond = await page.evaluate<number>('Math.max(0, document.documentElement.scrollWidth - innerWidth)');
    expect({ view, width, scheme, faults, beyond }).toEqual({ view, width, scheme, faults: [], beyond: 0 });
  }
}
