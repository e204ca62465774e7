import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/drives-browser.mjs';
import { findChromium } from '../fixtures/colab-page/chromium.js';
import { installedServer, ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const executablePath = findChromium();
const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const views = ['#', '#calls', '#calls/1', '#servers', '#servers/everything', '#try/everything/get-sum', '#grants', '#connect'];
const looks = [360, 1024, 1600].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })));

/** Run in the page: it has no types here. */
const partsOfOthers = `[document.querySelectorAll('img[onerror], script:not([src])').length, document.title]`;
const findFaults = `axe.run().then(({ violations }) => ({
  faults: violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')),
  beyond: document.documentElement.scrollWidth - innerWidth,
}))`;

describe.skipIf(executablePath === undefined)(
  `the console in Chromium${executablePath === undefined ? ': there is none here' : ''}`,
  () => {
    let hub: ServedHub;
    let browser: Browser;
    beforeAll(async () => {
      const node = { command: process.execPath };
      hub = await ServedHub.start({
        servers: {
          everything: installedServer('everything'),
          shop: { ...node, args: [fixtureServer('approvals.mjs'), '${HOME}/calls'], approve: 'writes' },
          odd: { ...node, args: [fixtureServer('named.mjs'), JSON.stringify([markup])], description: markup },
          broken: { ...node, args: ['-e', `console.error(${JSON.stringify(markup)}); process.exit(3)`] },
        },
        args: ['--notebook', 'none'],
      });
      browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox', '--disable-gpu'] });
      await hub.logged('is given up');
    }, 60_000);
    afterAll(async () => {
      await browser?.close();
      await hub?.[Symbol.asyncDispose]();
    });

    /** A page that is signed in, closed by `using`. What its scripts complain of fails the test. */
    const open = async (): Promise<{ page: Page; [Symbol.asyncDispose](): Promise<void> }> => {
      const { stdout } = await hub.run('console', '--no-browser');
      const page = await browser.newPage({ viewport: { width: 1024, height: 800 } });
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('console', (line) => line.type() === 'error' && faults.push(line.text()));
      await page.goto(stdout.trim());
      await page.getByText('Live', { exact: true }).waitFor();
      const close = async (): Promise<void> => {
        await page.close();
        expect(faults).toEqual([]);
      };
      return { page, [Symbol.asyncDispose]: close };
    };
    const go = (page: Page, hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);

    it('takes the code out of the address, and stays signed in when it is loaded anew', drivesBrowser, async () => {
      await using opened = await open();
      const { page } = opened;
      expect(page.url()).toBe(`${hub.url}/console`);
      await page.reload();
      await page.getByRole('heading', { name: 'The hub' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('Run `notebridge console`').waitFor();
    });

    it('shows first what is wrong, and what others wrote as it is', drivesBrowser, async () => {
      await using opened = await open();
      const { page } = opened;
      expect(await page.locator('h2').first().textContent()).toBe('Not as it should be');
      await page.getByRole('article').getByText(markup).waitFor();
      await page.getByRole('link', { name: 'broken' }).click();
      await page.getByRole('button', { name: 'Start' }).waitFor();
    });

    it('decides calls that wait', drivesBrowser, async () => {
      await using opened = await open();
      const { page } = opened;
      for (const [button, expected] of [
        ['Allow once', true],
        ['Deny', false],
      ] as const) {
        const calling = hub.call('shop', 'add', { text: markup }, (await hub.grant()).token);
        const card = page.getByRole('article').filter({ hasText: 'add' });
        await card.getByText('onerror').waitFor();
        await card.getByRole('button', { name: button }).click();
        expect((await calling).answer).toMatchObject({ success: expected });
        await card.waitFor({ state: 'detached' });
      }
    });

    it('tells of calls as they come, opens one, and cancels one that runs', drivesBrowser, async () => {
      await using opened = await open();
      const { page } = opened;
      await page.getByRole('link', { name: 'Calls', exact: true }).click();
      const { token } = await hub.grant('--label', 'the nightly report');
      await hub.call('everything', 'echo', { message: markup }, token);
      const row = page.getByRole('row').filter({ hasText: 'the nightly report' }).first();
      await row.getByRole('link', { name: 'everything · echo' }).click();
      await page.getByText(`Echo: ${markup}`).waitFor();
      const calling = hub.call('everything', 'trigger-long-running-operation', { duration: 60, steps: 60 }, token);
      await go(page, '#calls?outcome=running');
      await page.getByRole('link', { name: 'everything · trigger-long-running-operation' }).click();
      await page.getByRole('button', { name: 'Cancel' }).click();
      expect((await calling).answer).toMatchObject({ error_code: 'cancelled' });
      await page.getByText('cancelled', { exact: true }).waitFor();
    });

    it('stops a server, and starts it', drivesBrowser, async () => {
      await using opened = await open();
      const { page } = opened;
      await go(page, '#servers/odd');
      await page.getByRole('button', { name: 'Stop until it is called' }).click();
      await page.getByText('stopped', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByText('running', { exact: true }).waitFor();
    });

    it('tries any tool out, whatever its name, and shows pictures', drivesBrowser, async () => {
      await using opened = await open();
      const { page } = opened;
      await go(page, '#try/everything/get-sum');
      await page.getByRole('textbox').fill('{"a": 12345678901234567890, "b": ');
      expect(await page.getByRole('button', { name: 'Call it' }).isDisabled()).toBe(true);
      await page.getByRole('textbox').fill('{"a": 2, "b": 40}');
      await page.getByRole('button', { name: 'Call it' }).click();
      await page.getByText('The sum of 2 and 40 is 42.').waitFor();
      await page.getByText(`notebridge call 'everything' 'get-sum' '{"a":2,"b":40}'`).waitFor();
      await go(page, '#try/everything/get-tiny-image');
      await page.getByRole('button', { name: 'Call it' }).click();
      expect(
        await page
          .getByRole('img', { name: 'What the tool answered' })
          .evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth),
      ).toBeGreaterThan(0);
      await go(page, `#try/odd/${encodeURIComponent(markup)}`);
      await page.getByRole('button', { name: 'Call it' }).click();
      await page.getByText(`I am ${markup}`).waitFor();
      // Nothing of it became a part of the page.
      expect(await page.evaluate(partsOfOthers)).toEqual([0, 'Try out – Notebridge']);
    });

    it('issues a grant after it has shown what it would open, and revokes it', drivesBrowser, async () => {
      await using opened = await open();
      const { page } = opened;
      await go(page, '#grants');
      await page.getByLabel('For whom').fill('a test of the page');
      await page.getByLabel(/^May call/).fill('shop:re*');
      await page.getByText('Opens 2 tools').waitFor();
      await page.getByRole('button', { name: 'Issue it' }).click();
      const token = (await page.getByText(/^nbg_/).textContent()) ?? '';
      expect((await hub.call('shop', 'read', {}, token)).answer).toMatchObject({ success: true });
      await page.getByRole('row').filter({ hasText: 'a test of the page' }).getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('a test of the page').waitFor({ state: 'detached' });
      expect((await hub.call('shop', 'read', {}, token)).answer).toMatchObject({ error_code: 'bad_grant' });
    });

    it('is worked by the keyboard alone', drivesBrowser, async () => {
      await using opened = await open();
      const { page } = opened;
      const press = async (name: string): Promise<void> => {
        for (let tries = 0; tries < 40; tries++) {
          await page.keyboard.press('Tab');
          const focused = await page.evaluate('document.activeElement?.textContent?.trim()');
          if (focused === name) return page.keyboard.press('Enter');
        }
        throw new Error(`"${name}" is not reached by Tab`);
      };
      await press('Servers');
      await page.getByRole('heading', { name: 'Servers', level: 1 }).waitFor();
      await press('everything');
      await press('Restart');
      await page.getByText('running', { exact: true }).waitFor();
      await press('Connect');
      await page.getByRole('heading', { name: 'Claude Code' }).waitFor();
    });

    it.each(looks)(
      'has no fault that axe finds, and nothing beyond its edge, at $width in $scheme',
      { ...drivesBrowser, timeout: 90_000 },
      async ({ width, scheme }) => {
        await using opened = await open();
        const { page } = opened;
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: scheme });
        await page.evaluate(axe.source);
        for (const view of views) {
          await go(page, view);
          await page.locator('main section').first().waitFor();
          const { faults, beyond } = (await await page.evaluate(findFaults)) as { faults: string[]; beyond: number };
          expect({ view, faults, beyond }).toEqual({ view, faults: [], beyond: 0 });
        }
      },
    );

    it('says that the hub is gone, and why another hub does not know it', drivesBrowser, async () => {
      await using own = await ServedHub.start({ args: ['--notebook', 'none'] });
      const page = await browser.newPage();
      try {
        await page.goto((await own.run('console', '--no-browser')).stdout.trim());
        await page.getByText('Live', { exact: true }).waitFor();
        const { port } = own;
        await own.stop('SIGKILL');
        await page.getByText('The hub does not answer').waitFor();
        await using next = await ServedHub.start({ args: ['--notebook', 'none'], port });
        expect(next.port).toBe(port);
        await page.getByText('This tab was signed out').waitFor();
      } finally {
        await page.close();
      }
    });
  },
);
