// @module-tag deep
// @module-tag P-501

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { untilBrokerEnded } from '../support/broker.js';
import { ConsoleTab } from '../support/console-page.js';
import { openLegacyAgent, openModernAgent, type SendMessage } from '../support/http-agent.js';
import { addressIn, Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { ServedHub } from '../support/served-hub.js';

const executablePath = findChromium();
const markup = '<img src=x onerror="document.title=1">a\u202eb';

const write = async (agent: SendMessage): Promise<string> =>
  JSON.stringify((await agent('tools/call', { name: 'add_text_cell', arguments: { cellIndex: 0, content: 'x' } })).result);
const rowOf = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Agents', exact: true }).getByRole('row').filter({ hasText: text });

describe.skipIf(executablePath === undefined)(
  `notebooks and agents in the console${executablePath === undefined ? ': no Chromium here' : ''}`,
  () => {
    let hub: ServedHub;
    let browser: Browser;
    beforeAll(async () => {
      hub = await ServedHub.start({ args: ['--notebook', 'local', '--no-browser'] });
      browser = await openChromium();
    });
    afterAll(async () => {
      await browser?.close();
      await hub?.[Symbol.asyncDispose]();
    });

    it('shows agents as they come, disconnects one, and revokes the grant of one that has no session', drivesBrowser, async () => {
      await using tab = await ConsoleTab.open(browser, hub);
      const { page } = tab;
      await page.getByRole('link', { name: 'Notebooks and agents' }).click();
      await page.getByText('No agent is connected').waitFor();
      const [nightly, stateless] = [await hub.grant('--agent', '--label', 'nightly'), await hub.grant('--agent', '--label', 'stateless')];
      const legacy = await openLegacyAgent(hub, () => nightly.token, 'Nightly agent');
      await rowOf(page, 'Nightly agent').getByText('grant nightly').waitFor();
      await rowOf(page, 'Nightly agent').getByRole('button', { name: 'Disconnect', exact: true }).click();
      await page.getByRole('button', { name: 'Disconnect it now' }).click();
      await rowOf(page, 'Nightly agent').waitFor({ state: 'detached' });
      expect(await legacy('tools/list')).toMatchObject({ status: 404 });
      const modern = openModernAgent(hub, () => stateless.token);
      await modern('tools/list');
      const row = rowOf(page, 'grant stateless');
      await row.getByText('modern', { exact: true }).waitFor();
      await row.getByText('Why not disconnect?').click();
      await row.getByText('the modern era has no sessions').waitFor();
      await row.getByRole('button', { name: 'Revoke its grant' }).click();
      await page.getByRole('button', { name: 'Revoke its grant now' }).click();
      await rowOf(page, 'grant stateless').waitFor({ state: 'detached' });
      expect(await modern('tools/list')).toMatchObject({ status: 401 });
    });

    it('ends who holds a notebook of the broker, and the notebook', { ...drivesBrowser, tags: ['P-510'] }, async () => {
      await using own = await ServedHub.start({ args: ['--notebook', 'none'] });
      const file = join(own.home, 'elsewhere.ipynb');
      await using agent = await Program.open({ args: ['--notebook', file], env: own.env, name: 'Of stdio' });
      await agent.callTool('add_text_cell', { cellIndex: 0, content: 'x' });
      await using tab = await ConsoleTab.open(browser, own);
      await tab.go('#/notebooks');
      const card = tab.page.getByRole('listitem').filter({ hasText: 'elsewhere.ipynb' });
      await card.getByRole('button', { name: 'Take it from Of stdio' }).click();
      await card.getByRole('button', { name: 'Take it from Of stdio' }).waitFor({ state: 'detached' });
      await card.getByRole('button', { name: 'End it' }).click();
      await card.getByRole('button', { name: 'Save and end it now' }).click();
      await card.waitFor({ state: 'detached' });
      expect(readFileSync(file, 'utf8')).toContain('"x"');
      await own.run('stop', 'all');
      await untilBrokerEnded(own.env.XDG_STATE_HOME ?? '');
    });

    it('takes a notebook over from an agent, whose name is inert, by the keyboard, and lets it write again', drivesBrowser, async () => {
      await using tab = await ConsoleTab.open(browser, hub);
      const { page } = tab;
      const agent = await openLegacyAgent(hub, () => hub.ownerToken, markup);
      await write(agent);
      await tab.go('#/notebooks');
      const writers = page.getByRole('list', { name: 'Who writes' });
      await writers.getByText('<img src=x onerror="document.title=1">a\\u{202e}b').waitFor();
      await page.getByRole('heading', { name: 'Notebooks and agents' }).focus();
      for (let presses = 0; presses < 10; presses++) {
        await page.keyboard.press('Tab');
        if ((await page.evaluate('document.activeElement.textContent')) === 'Take over') break;
      }
      await page.keyboard.press('Enter');
      await writers.getByText('only looks: you took it over').waitFor();
      expect(await write(agent)).toContain('A person took this notebook away from you');
      await writers.getByRole('button', { name: 'Let it write again' }).click();
      await page.getByText('only looks').waitFor({ state: 'detached' });
      expect(await write(agent)).toContain('newCellId');
      await writers.getByRole('button', { name: 'Release' }).click();
      await writers.getByText('No agent holds it').waitFor();
      expect(await page.evaluate("document.querySelectorAll('img[onerror]').length")).toBe(0);
    });

    it(
      'opens a window in a tab of its own, with no code left in the address, and answers who asks for the notebook',
      drivesBrowser,
      async () => {
        await using tab = await ConsoleTab.open(browser, hub);
        const { page } = tab;
        await tab.go('#/notebooks');
        await page.getByText('Python in WebAssembly, without network').waitFor();
        const [window] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Open a window' }).click()]);
        await page.getByText('1 window open.').waitFor();
        expect(window.url()).not.toContain('token');
        const first = await openLegacyAgent(hub, () => hub.ownerToken, 'First');
        const second = await openLegacyAgent(hub, () => hub.ownerToken, 'Second');
        await write(first);
        const asked = second('tools/call', { name: 'take_over', arguments: { reason: 'the plot' } });
        await page.getByText('asks for it: “the plot”').waitFor();
        await page.getByRole('button', { name: 'Give it' }).click();
        expect(JSON.stringify((await asked).result)).toContain('yours');
        await page.getByRole('list', { name: 'Who writes' }).getByText('Second holds it').waitFor();
        await window.close();
        await page.getByText('Nobody looks at it.').waitFor();
      },
    );

    it('takes the last change of an agent back', { ...drivesBrowser, tags: ['P-511'] }, async () => {
      await using tab = await ConsoleTab.open(browser, hub);
      const { page } = tab;
      await tab.go('#/notebooks');
      const agent = await openLegacyAgent(hub, () => hub.ownerToken, 'Undone');
      // Of the agent of the test before.
      await page.getByRole('list', { name: 'Who writes' }).getByRole('button', { name: 'Release' }).click();
      await expect.poll(() => write(agent)).toContain('newCellId');
      await page.getByRole('button', { name: 'Undo the last change of Undone' }).click();
      await page.getByRole('button', { name: /^Take back: insert of the cell / }).click();
      await page.getByRole('button', { name: 'Undo the last change of Undone' }).waitFor({ state: 'detached' });
    });

    it('stops what runs, and restarts the kernel', drivesBrowser, async () => {
      await using tab = await ConsoleTab.open(browser, hub);
      const { page } = tab;
      await tab.go('#/notebooks');
      const agent = await openLegacyAgent(hub, () => hub.ownerToken, 'Runner');
      const writers = page.getByRole('list', { name: 'Who writes' });
      await writers.getByRole('button', { name: 'Release' }).click();
      const running = agent('tools/call', { name: 'run_code', arguments: { code: 'import time\ntime.sleep(600)' } });
      await page.getByRole('button', { name: 'Stop what runs', exact: true }).click({ timeout: 60_000 });
      expect(JSON.stringify((await running).result)).toContain('KeyboardInterrupt');
      await page.getByRole('button', { name: 'Restart the kernel' }).click();
      await page.getByRole('button', { name: 'Restart it: variables are gone' }).click();
      await page.getByRole('heading', { name: 'Notebook in memory idle' }).waitFor();
    });

    it('shows a page that comes, and disconnects it', drivesBrowser, async () => {
      await using pages = await ServedHub.start({ args: ['--no-browser'] });
      await using tab = await ConsoleTab.open(browser, pages);
      const { page } = tab;
      await tab.go('#/notebooks');
      await page.getByRole('heading', { name: 'Google Colab waiting' }).waitFor();
      const agent = await openLegacyAgent(pages, () => pages.ownerToken);
      const opened = addressIn(await agent('tools/call', { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } }));
      await using raw = await RawPage.serve(opened);
      await page.getByText(/^https:\/\/colab\.research\.google\.com, since/).waitFor();
      expect(await page.content()).not.toContain(opened.token);
      await page.getByRole('button', { name: 'Disconnect the page' }).click();
      await page.getByRole('button', { name: 'Disconnect it now' }).click();
      expect(await raw.closed).toBe(1008);
      await page.getByRole('heading', { name: 'Google Colab waiting' }).waitFor();
      const [connecting] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('button', { name: 'How its page connects' }).click(),
      ]);
      await connecting.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => connecting.url()).not.toContain('code');
      await connecting.close();
    });
  },
);
