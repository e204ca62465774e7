import { once } from 'node:events';
import { connect } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { SharedHome, until } from '../support/broker.js';
import { Program } from '../support/program.js';
import { statusOf } from '../support/raw-handshake.js';
import { type RawReply, rawRequest } from '../support/raw-http.js';
import { RawPage } from '../support/raw-page.js';
import { ServedHub } from '../support/served-hub.js';

const openTool = 'open_colab_browser_connection';

/** What the open tool says, and the one-time address in it. */
async function ask(program: Program): Promise<{ text: string; address: string; port: number; code: string }> {
  const text = textOf(await program.callTool(openTool, { wait_seconds: 0 }));
  const [address = '', port, code = ''] = /http:\/\/localhost:(\d+)\/connect#code=([\w-]+)/.exec(text) ?? [];
  return { text, address, port: Number(port), code };
}

function textOf(answer: unknown): string {
  const { content } = (answer as { result: { content: { text: string }[] } }).result;
  return content.map(({ text }) => text).join('\n');
}

function get(port: number, part: string, headers: Record<string, string> = {}): Promise<RawReply> {
  return rawRequest(port, { target: `/connect${part}`, headers });
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

describe('the page /connect', () => {
  let browser: Browser | undefined;

  beforeAll(async () => {
    const executablePath = findChromium();
    if (executablePath !== undefined) browser = await openChromium();
  });

  afterAll(() => browser?.close());

  const open = async (address: string): Promise<Page> => {
    if (browser === undefined) throw new Error('No Chromium.');
    const page = await browser.newPage();
    await page.goto(address);
    return page;
  };

  it('shows each state live, with its next step, in the words of the tool', { ...drivesBrowser, tags: ['deep', 'P-319'] }, async ({
    skip,
  }) => {
    skip(browser === undefined, 'no Chromium on this machine');
    await using program = await Program.open({ env: { NOTEBRIDGE_NO_BROWSER: '' } });
    const { text, address, port } = await ask(program);
    expect(text).toMatch(/No browser was opened/);
    const page = await open(address);
    const shows = (heading: string): Promise<void> => page.getByRole('heading', { name: heading }).waitFor();
    await shows('No Google Colab page is open');
    expect(page.url()).toBe(`http://localhost:${port}/connect`);
    const { token, url } = await program.address();
    await page.getByText(url, { exact: true }).waitFor();
    await page.getByText(`${token}&${port}`, { exact: true }).waitFor();
    await page.getByText(`ssh -L ${port}:localhost:${port}`).waitFor();

    const silent = connect(port, '127.0.0.1');
    await once(silent, 'connect');
    await shows('The browser keeps the page from this machine');
    await page.getByText('chrome://settings/content/siteDetails?site=https%3A%2F%2Fcolab.research.google.com').waitFor();
    expect(await page.getByText('about:preferences').count()).toBe(0);
    const said = await ask(program);
    for (const setting of ['local-network permission', 'chrome://', 'edge://', 'about:preferences#privacy', 'Safari'])
      expect(said.text).toContain(setting);
    silent.destroy();

    expect(await statusOf({ port, token: 'x'.repeat(43) })).toBe(403);
    await shows('An old tab tries to connect');
    expect((await ask(program)).text).toContain('came with a token that has ended');
    expect(textOf(await program.callTool('get_cells'))).toMatch(/was not run\. .*token that has ended.*Call "open_colab/s);

    expect(await statusOf({ port, token, headers: { Origin: 'https://elsewhere.example' } })).toBe(403);
    await shows('A page of another site tried to connect');
    await page.getByText('A page of https://elsewhere.example was refused').waitFor();

    const first = await RawPage.serve({
      port,
      token,
      answer: ({ method }) => (method === 'tools/list' ? { result: { tools: [] } } : undefined),
    });
    await program.request('tools/list');
    await shows('The page is connected, and offers no tools');
    expect(textOf(await program.callTool(openTool))).toMatch(/^true\n.*lists no tool/s);
    const second = await RawPage.connect({ port, token });
    expect(await second.closed).toBe(1013);
    await shows('Another page is connected already');
    expect(textOf(await program.callTool(openTool))).toMatch(
      /held by a page of https:\/\/colab\.research\.google\.com, connected since \d\d:\d\d/,
    );
    await first.close();
    await shows('The page has gone');

    await using _third = await RawPage.serve({ port, token });
    await program.request('tools/list');
    await shows('Connected');
    await page.close();
  });

  it('says that a page was opened and has not dialled; a browser that looks at it is not why', {
    ...drivesBrowser,
    tags: ['deep', 'P-319'],
  }, async ({ skip }) => {
    skip(browser === undefined, 'no Chromium on this machine');
    await using program = await Program.open({ env: { NOTEBRIDGE_NO_BROWSER: '', BROWSER: 'true' } });
    const { text, address } = await ask(program);
    expect(text).toMatch(/Nothing has dialled yet.*press "Connect".*ssh -L/s);
    const page = await open(address);
    await page.getByRole('heading', { name: 'nothing has reached this machine' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    // It is asked for once a second: several answers, and none speaks of a permission.
    for (let polls = 0; polls < 3; polls++) await page.waitForResponse((response) => response.url().endsWith('/connect/state'));
    expect(await page.getByRole('heading', { level: 2 }).textContent()).toContain('nothing has reached this machine');
    await program.close();
    await page.getByText('Notebridge does not answer: its agent may have ended').waitFor();
    await page.close();
  });

  it('is opened once by each address, stays open over a reload, and says why an old address opens nothing', {
    ...drivesBrowser,
    tags: ['P-278'],
  }, async ({ skip }) => {
    skip(browser === undefined, 'no Chromium on this machine');
    await using program = await Program.open();
    const { address } = await ask(program);
    const page = await open(address);
    await page.getByRole('heading', { name: 'No Google Colab page is open' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'No Google Colab page is open' }).waitFor();
    const later = await open(address);
    await later.getByText('This address was used already').waitFor();
    const bare = await open(address.split('#')[0] ?? '');
    await bare.getByText('This page is opened by an address of its own').waitFor();
    for (const each of [page, later, bare]) await each.close();
  });

  it('holds no secret in its files, runs no inline script, and gives its state to its own page alone', { tags: ['P-278'] }, async () => {
    await using program = await Program.open();
    const { code, port } = await ask(program);
    const { token } = await program.address();
    for (const file of ['', '/connect.js', '/connect.css', '/icon.svg']) {
      const reply = await get(port, file);
      expect(reply).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } });
      expect(reply.headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/);
      expect(reply.headers['content-security-policy']).not.toContain('unsafe');
      for (const secret of [token, code]) expect(reply.body).not.toContain(secret);
    }
    const page = await get(port, '');
    expect(page.body).not.toMatch(/<script>|<style|\son\w+=|style=/);
    expect(page.headers['access-control-allow-origin']).toBeUndefined();

    // What another page could send.
    expect(await get(port, '/state')).toMatchObject({ status: 403, body: 'unknown' });
    expect(await get(port, '/enter', bearer('x'.repeat(43)))).toMatchObject({ status: 403 });
    for (const part of ['', '/enter', '/state'])
      for (const headers of [
        { origin: 'https://elsewhere.example' },
        { origin: `http://localhost:${port + 1}` },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { host: `elsewhere.example:${port}` },
      ])
        expect(await get(port, part, { ...bearer(code), ...headers })).toMatchObject({ status: 403 });
    expect(await rawRequest(port, { method: 'POST', target: '/connect/enter', headers: bearer(code) })).toMatchObject({ status: 405 });
    expect(await get(port, '/../connect/state')).toMatchObject({ status: 404 });

    const { body: own } = await get(port, '/enter', bearer(code));
    expect(await get(port, '/enter', bearer(code))).toMatchObject({ status: 410, body: 'used' });
    const state = await get(port, '/state', { ...bearer(own), 'sec-fetch-site': 'same-origin' });
    expect(JSON.parse(state.body)).toMatchObject({ notebooks: [{ id: 'colab', kind: 'not_opened', steps: [{ isLink: true }, {}, {}] }] });
    expect(await get(port, '/state', bearer(code))).toMatchObject({ status: 403 });
    expect(await get(port, '/state', bearer(token))).toMatchObject({ status: 403 });
    // The page's token opens nothing else.
    expect(await statusOf({ port, token: own })).toBe(403);
    await until(() => program.stderr.includes('refused'));
    for (const secret of [own, code]) expect(program.stderr).not.toContain(secret);
  });

  it('shows the pages of a broker at its port, and goes on when the agent has ended', { timeout: 240_000, tags: ['deep'] }, async () => {
    await using home = new SharedHome();
    const agent = await Program.open({ args: ['--hold', 'join'], env: home.env });
    const { code, port } = await ask(agent);
    await agent.close();
    const { body: own } = await get(port, '/enter', bearer(code));
    const state = await get(port, '/state', bearer(own));
    expect(JSON.parse(state.body)).toMatchObject({
      notebooks: [{ title: 'Google Colab', kind: 'not_opened', steps: [{ isLink: true }, {}, {}] }],
    });
    expect(await statusOf({ port, token: 'x'.repeat(43) })).toBe(403);
    expect((await get(port, '/state', bearer(own))).body).toContain('"kind":"stale_token"');
    await using next = await Program.open({ args: ['--hold', 'join'], env: home.env });
    expect((await ask(next)).port).toBe(port);
  });

  it('is at a hub’s port too, under the rules of every route', { tags: ['P-279'] }, async () => {
    await using hub = await ServedHub.start({ args: ['--notebook', 'colab'] });
    const port = Number(new URL(hub.url).port);
    expect(await get(port, '')).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(await get(port, '/state')).toMatchObject({ status: 403 });
    expect(await get(port, '', { host: 'elsewhere.example' })).toMatchObject({ status: 403 });
    expect(await get(port, '', { 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 });
    await using without = await ServedHub.start({ args: ['--notebook', 'none'] });
    expect(await get(Number(new URL(without.url).port), '')).toMatchObject({ status: 404 });
  });
});
