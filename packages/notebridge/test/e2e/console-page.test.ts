// @module-tag deep

import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { ConsoleTab, consoleAddress } from '../support/console-page.js';
import { ownPort } from '../support/own-port.js';
import { installedServer, ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const executablePath = findChromium();
const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

describe.skipIf(executablePath === undefined)(`the console's page${executablePath === undefined ? ': no Chromium here' : ''}`, () => {
  let hub: ServedHub;
  let browser: Browser;
  beforeAll(async () => {
    const node = { command: process.execPath };
    hub = await ServedHub.start({
      servers: {
        everything: installedServer('everything'),
        shop: { ...node, args: [fixtureServer('approvals.mjs'), '/dev/null'], approve: 'writes' },
        odd: { ...node, args: [fixtureServer('named.mjs'), JSON.stringify([markup, 'a\u202eb'])], description: markup },
        broken: { ...node, args: ['-e', `console.error(${JSON.stringify(markup)}); process.exit(3)`] },
      },
      args: ['--notebook', 'none'],
    });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await hub?.[Symbol.asyncDispose]();
  });

  it('takes the code out of the address at once, and stays signed in when it is loaded anew', drivesBrowser, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    expect(page.url()).not.toContain('code');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage })')).toBe('{}');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Not signed in' }).waitFor();
    await page.getByText('You have signed out.').waitFor();
    await page.getByText('notebridge console').waitFor();
  });

  it('shows what is wrong first, with the next step', drivesBrowser, async () => {
    await hub.until(() => hub.log().some(({ server, level }) => server === 'broken' && level !== 30));
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    const section = page.getByRole('region', { name: 'Not as it should be' });
    await section.getByRole('heading', { name: 'broken' }).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).first().textContent()).toBe('Not as it should be');
    await section.getByRole('link', { name: 'What it said' }).click();
    await page.getByRole('heading', { name: 'broken', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'Last lines of its log' }).getByText(markup).first().waitFor();
  });

  it('decides the calls that wait', { ...drivesBrowser, tags: ['P-486'] }, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    const { token } = await hub.grant('--allow', 'shop:*');
    for (const [button, isAllowed] of [
      ['Allow once', true],
      ['Deny', false],
    ] as const) {
      const answered = hub.call('shop', 'add', { text: markup }, token);
      const section = page.getByRole('region', { name: 'Waiting for your approval' });
      await section.getByText('onerror').waitFor();
      await section.getByRole('button', { name: button }).click();
      expect((await answered).answer).toMatchObject({ success: isAllowed });
      await section.waitFor({ state: 'detached' });
    }
  });

  it('lists calls as they come, opens one, and cancels one that runs', { ...drivesBrowser, tags: ['P-486'] }, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await page.getByRole('link', { name: 'Calls', exact: true }).click();
    const { token } = await hub.grant('--label', 'nightly report');
    await hub.call('everything', 'echo', { message: markup, exact: 1 }, token);
    const row = page.getByRole('row').filter({ hasText: 'nightly report' }).first();
    await row.getByRole('link', { name: 'everything · echo' }).click();
    await page.getByRole('region', { name: 'Result' }).getByText(`Echo: ${markup}`).waitFor();
    const answered = hub.call('everything', 'trigger-long-running-operation', { duration: 60, steps: 60 }, token);
    await tab.go('#/calls?outcome=running');
    await page.getByRole('link', { name: 'everything · trigger-long-running-operation' }).click();
    await page.getByRole('button', { name: 'Cancel this call' }).click();
    expect((await answered).answer).toMatchObject({ success: false });
    await page.getByText('cancelled', { exact: true }).first().waitFor();
  });

  it('finds calls by words, by server and by outcome', drivesBrowser, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await hub.call('everything', 'get-sum', { a: 1, b: 2 }, hub.ownerToken);
    await hub.call('everything', 'get-sum', { a: 'x' }, hub.ownerToken);
    await tab.go('#/calls');
    await page.getByLabel('Find').fill('get-sum');
    await page.getByLabel('Server').selectOption('everything');
    await page.getByLabel('Outcome').selectOption('ok');
    await expect.poll(() => page.locator('tbody a').count()).toBeGreaterThan(0);
    for (const text of await page.locator('tbody tr:not(.gap)').allTextContents()) expect(text).toMatch(/get-sum.*ok/);
    expect(page.url()).toContain('outcome=ok');
    await page.getByLabel('Find').fill('no such call');
    await page.getByText('No call fits').waitFor();
  });

  it('tries a call again with what was sent', drivesBrowser, async () => {
    await hub.call('everything', 'get-sum', { a: 2, b: 40 }, hub.ownerToken);
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await page.getByRole('link', { name: 'Calls', exact: true }).click();
    // Anywhere in the row.
    await page.getByRole('row').filter({ hasText: 'get-sum' }).first().click();
    await page.getByRole('link', { name: 'Try this tool out' }).click();
    await expect.poll(() => page.getByLabel('a number', { exact: false }).first().inputValue()).toBe('2');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByText('The sum of 2 and 40 is 42').waitFor();
    await page.getByRole('link', { name: 'issue a grant' }).click();
    await page.getByRole('heading', { name: 'Grants', level: 1 }).waitFor();
    // And back to where it was.
    await page.getByRole('link', { name: 'Try out', exact: true }).click();
    await page.getByRole('heading', { name: 'get-sum' }).waitFor();
  });

  it('stops a server, and starts it', { ...drivesBrowser, tags: ['P-486'] }, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await tab.go('#/servers/odd');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('stopped', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('running', { exact: true }).waitFor();
  });

  it('has a tool tried out by a form of its schema, or by JSON', { ...drivesBrowser, tags: ['P-486'] }, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await tab.go('#/try/everything/get-sum');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByText('It is required.').first().waitFor();
    await page.getByLabel('a number').fill('two');
    await page.getByText('It must be a number.').waitFor();
    await page.getByLabel('a number').fill('2');
    await page.getByLabel('b number').fill('40');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByText('The sum of 2 and 40 is 42.').waitFor();
    await page.getByRole('button', { name: 'As JSON' }).click();
    await page.getByLabel('Arguments, as JSON').fill('{"a": 1, "b": 1}');
    await page.getByText(`notebridge call 'everything' 'get-sum' '{"a":1,"b":1}'`).waitFor();
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await answer.getByText('The sum of 1 and 1 is 2.').waitFor();
  });

  it('shows images, progress, and cancels', drivesBrowser, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await tab.go('#/try/everything/get-tiny-image');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    const width = await page
      .getByRole('img', { name: /^Answer/ })
      .evaluate((image: { naturalWidth: number; decode(): Promise<void> }) => image.decode().then(() => image.naturalWidth));
    expect(width).toBeGreaterThan(0);
    await tab.go('#/try/everything/trigger-long-running-operation');
    await page.getByLabel('duration number').fill('60');
    await page.getByLabel('steps number').fill('600');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByText(/^\d+ of 600$/).waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByText('You cancelled the call.').waitFor();
    await tab.go('#/calls?text=trigger-long');
    await page.getByRole('row').nth(2).getByText('cancelled').waitFor();
  });

  it('leaves what servers say inert, and writes out what cannot be seen', { ...drivesBrowser, tags: ['P-484'] }, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await tab.go(`#/try/odd/${encodeURIComponent(markup)}`);
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText(`I am ${markup}`).waitFor();
    await tab.go('#/servers/odd');
    await page.getByText('a\\u{202e}b').waitFor();
    expect(await page.evaluate("document.querySelectorAll('img[onerror], script:not([src])').length")).toBe(0);
    expect(await page.title()).toBe('odd – Notebridge');
  });

  it('issues a grant after it has shown what it would allow, and revokes it', { ...drivesBrowser, tags: ['P-486'] }, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    await hub.call('shop', 'read', {}, hub.ownerToken);
    await tab.go('#/grants');
    await page.getByLabel('Patterns').fill('shop:re*');
    await page.getByText(/^It could call 2 of /).waitFor();
    await page.getByLabel('Name').fill('for the page');
    await page.getByRole('button', { name: 'Issue' }).click();
    const token = (await page.getByRole('group', { name: 'Token of the new grant' }).textContent()) ?? '';
    expect((await hub.call('shop', 'read', {}, token)).answer).toMatchObject({ success: true });
    await page.getByRole('button', { name: 'I have copied it' }).click();
    const row = page.getByRole('row').filter({ hasText: 'for the page' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.getByRole('button', { name: 'Revoke it now' }).click();
    await row.waitFor({ state: 'detached' });
    expect((await hub.call('shop', 'read', {}, token)).status).toBe(401);
    expect(await page.content()).not.toContain(token);
  });

  it('says of each grant when it ends, on a narrow screen too, and which is used up', drivesBrowser, async () => {
    const { token } = await hub.grant('--label', 'spent', '--calls', '1', '--allow', 'shop:read');
    await hub.grant('--label', 'fresh', '--calls', '1000', '--ttl', '20d');
    await hub.call('shop', 'read', {}, token);
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    for (const width of [360, 1024]) {
      await page.setViewportSize({ width, height: 900 });
      await tab.go('#/grants');
      const row = (name: string): Locator => page.getByRole('row').filter({ hasText: name });
      await row('spent').getByText('used up').waitFor();
      const ends = row('fresh')
        .getByText(/\d{4}-\d\d-\d\d \d\d:\d\d/)
        .filter({ visible: true });
      expect(await ends.count()).toBe(1);
      const beyond = await page.evaluate<number>('Math.max(0, document.documentElement.scrollWidth - innerWidth)');
      expect([await row('fresh').getByText('used up').count(), beyond]).toEqual([0, 0]);
      if (process.env.NOTEBRIDGE_SCREENSHOT !== undefined)
        await page.screenshot({ path: `${process.env.NOTEBRIDGE_SCREENSHOT}-${width}.png` });
    }
  });

  it('is worked by the keyboard alone', { ...drivesBrowser, tags: ['P-485'] }, async () => {
    await using tab = await ConsoleTab.open(browser, hub);
    const { page } = tab;
    const tabTo = async (name: string): Promise<void> => {
      for (let presses = 0; presses < 60; presses++) {
        await page.keyboard.press('Tab');
        const [text, outline] = await page.evaluate<[string, string]>(
          '[document.activeElement.textContent.trim(), getComputedStyle(document.activeElement).outlineStyle]',
        );
        if (text !== name) continue;
        expect(outline).toBe('solid');
        return;
      }
      throw new Error(`"${name}" is not reached by Tab.`);
    };
    await tabTo('Servers');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Servers', level: 1 }).waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    await tabTo('everything');
    await page.keyboard.press('Enter');
    await tabTo('Restart');
    await page.keyboard.press('Enter');
    await page.getByText('running', { exact: true }).waitFor();
  });

  it('scrolls 100,000 calls, and moves none under the pointer when others come', { ...drivesBrowser, tags: ['P-490'] }, async () => {
    const call = {
      call_id: 'x',
      parent: null,
      state: 'ended',
      method: 'tools/call',
      server: 'many',
      tool: 'call',
      door: 'http',
      outcome: 'ok',
    };
    const caller = { kind: 'owner', grant_id: null, label: null, client: null, session: null };
    const numbers = { started_at: new Date().toISOString(), duration_ms: 1, bytes_in: 2, bytes_out: 2 };
    const events = Array.from({ length: 100 }, (_, batch) => {
      const calls = Array.from({ length: 1000 }, (_, at) => ({ ...call, caller, ...numbers, id: String(1_000_000 + batch * 1000 + at) }));
      return `event: calls\ndata: ${JSON.stringify({ calls, totals: { made: 100_000, failed: 0, running: 0 } })}\n\n`;
    });
    let isTold = false;
    await using tab = await ConsoleTab.open(browser, hub, {
      // The first stream tells of more calls than a test can make; the hub's own follow.
      prepare: (page) =>
        page.route('**/api/v1/hub/events', (route) => {
          if (isTold) return route.continue();
          isTold = true;
          return route.fulfill({ contentType: 'text/event-stream', body: events.join('') });
        }),
    });
    const { page } = tab;
    await tab.go('#/calls');
    const list = page.getByRole('region', { name: 'List of calls' });
    await expect.poll(async () => Number(await list.getByRole('table').getAttribute('aria-rowcount'))).toBeGreaterThan(99_000);
    await list.evaluate((place) => place.scrollTo({ top: place.scrollHeight / 2 }));
    const middle = list.locator('tbody a').nth(20);
    await expect.poll(async () => Number((await middle.getAttribute('href'))?.split('/').at(-1))).toBeLessThan(1_060_000);
    expect(await list.locator('tbody tr').count()).toBeLessThan(120);
    const before = await middle.getAttribute('href');
    await hub.call('everything', 'echo', { message: 'new' }, hub.ownerToken);
    expect(await middle.getAttribute('href')).toBe(before);
    await list.focus();
    await page.keyboard.press('Home');
    await expect.poll(() => list.evaluate((place) => place.scrollTop)).toBe(0);
  });

  it('says that the hub is gone, and that another one does not know this tab', drivesBrowser, async () => {
    await using first = await ServedHub.start({ args: ['--notebook', 'none'], port: await ownPort() });
    const page = await browser.newPage();
    try {
      await page.goto(await consoleAddress(first));
      await page
        .getByRole('status')
        .filter({ hasText: /^live$/ })
        .waitFor();
      const { port } = first;
      await first.stop('SIGKILL');
      await page.getByRole('alert').getByText('The hub does not answer').waitFor();
      await using _next = await ServedHub.start({ args: ['--notebook', 'none'], port });
      await page.getByRole('heading', { name: 'Not signed in' }).waitFor();
    } finally {
      await page.close();
    }
  });
});
