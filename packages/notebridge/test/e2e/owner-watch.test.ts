// @module-tag deep
// @module-tag P-492

import type { JsonObject } from '@notebridge/protocol/json';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

let hub: ServedHub;
beforeAll(async () => {
  const shop = { command: process.execPath, args: [fixtureServer('approvals.mjs'), '/dev/null'] };
  hub = await ServedHub.start({ servers: { shop }, args: ['--notebook', 'none'] });
  await hub.call('shop', 'read', { note: 'a private word' }, hub.ownerToken);
});
afterAll(() => hub?.[Symbol.asyncDispose]());

describe('a grant that only watches', () => {
  it('shows how the hub is, and nothing that was sent, answered or logged', async () => {
    const { token } = await hub.grant('--door', 'watch', '--label', 'wall');
    const ask = (path: string): Promise<Response> => hub.request(`/api/v1/hub${path}`, { token });
    expect(await (await ask('')).json()).toMatchObject({
      role: 'watcher',
      servers: [{ name: 'shop' }],
      calls: { made: expect.any(Number) },
    });
    expect(await (await hub.request('/api/v1/hub', { token: hub.ownerToken })).json()).toMatchObject({ role: 'owner' });
    const calls = await (await ask('/calls')).text();
    expect(calls).toContain('"tool":"read"');
    for (const path of ['', '/servers', '/calls']) expect(await (await ask(path)).text()).not.toContain('private word');
    for (const path of ['/calls/1', '/logs', '/grants', '/approvals', '/bindings', '/servers/shop'])
      expect([path, (await ask(path)).status]).toEqual([path, 403]);
    const changes = ['/servers/shop/restart', '/grants', '/grants/preview', '/calls/1/cancel', '/approvals/x', '/console/links'];
    for (const path of changes) {
      const { status } = await hub.request(`/api/v1/hub${path}`, { token, body: {} });
      expect([path, status]).toEqual([path, 403]);
    }
    const { id } = await hub.grant('--allow', 'shop:read');
    expect((await hub.request(`/api/v1/hub/grants/${id}`, { token, method: 'DELETE' })).status).toBe(403);
  });

  it('calls nothing, at no door', async () => {
    const { token } = await hub.grant('--door', 'watch');
    expect((await hub.call('shop', 'read', {}, token)).status).toBe(403);
    expect((await hub.request('/api/v1/mcp/proxy/servers', { token })).status).toBe(403);
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const headers = { accept: 'application/json, text/event-stream' };
    expect((await hub.request('/mcp', { token, headers, body })).status).toBe(403);
  });

  it('is told of calls as they come, until it is revoked', async () => {
    const { token, id } = await hub.grant('--door', 'watch');
    const events = await hub.request('/api/v1/hub/events', { token, headers: { accept: 'text/event-stream' } });
    const [reader, decoder] = [events.body?.getReader(), new TextDecoder()];
    await hub.call('shop', 'read', { note: 'a private word' }, hub.ownerToken);
    let heard = '';
    while (!heard.includes('"state":"ended"')) heard += decoder.decode((await reader?.read())?.value);
    expect(heard).not.toContain('private word');
    await hub.request(`/api/v1/hub/grants/${id}`, { token: hub.ownerToken, method: 'DELETE' });
    while ((await reader?.read())?.done !== true);
    expect((await hub.request('/api/v1/hub', { token })).status).toBe(401);
  });

  it('takes no place of the owner, however many streams it opens', async () => {
    const { token } = await hub.grant('--door', 'watch');
    const ends = new AbortController();
    const open = (of: string): Promise<Response> =>
      fetch(new URL('/api/v1/hub/events', hub.url), { headers: { authorization: `Bearer ${of}` }, signal: ends.signal });
    try {
      const statuses: number[] = [];
      for (let count = 0; count < 33; count++) statuses.push((await open(token)).status);
      expect([statuses[0], statuses[31], statuses[32]]).toEqual([200, 200, 503]);
      expect((await open(hub.ownerToken)).status).toBe(200);
    } finally {
      ends.abort();
    }
  });

  it.each<[JsonObject, string]>([
    [{ door: 'watch', allow: ['shop:*'] }, '`allow`'],
    [{ door: 'watch', read_only: true }, '`readOnly`'],
    [{ door: 'watch', calls: 5 }, '`calls`'],
    [{ door: 'watch', allow: 'x' }, '`allow`'],
  ])('is refused with the terms %o, which mean nothing for it', async (body, text) => {
    const answer = await hub.request('/api/v1/hub/grants', { token: hub.ownerToken, body });
    expect([answer.status, await answer.json()]).toMatchObject([422, { detail: expect.stringContaining(text) }]);
  });

  it('is still there, as it was, for the next process of its owner', async () => {
    const { id } = await hub.grant('--door', 'watch', '--label', 'kept');
    const { stdout } = await hub.run('grant', 'list');
    expect(stdout).toMatch(new RegExp(`^${id} +watch .*nothing; it watches +kept$`, 'm'));
  });
});

const executablePath = findChromium();
describe.skipIf(executablePath === undefined)(
  `the console of who watches${executablePath === undefined ? ': no Chromium here' : ''}`,
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await openChromium();
    });
    afterAll(() => browser?.close());

    it('opens with the token of the grant, shows no secret and no way to change anything', drivesBrowser, async () => {
      const { token, id } = await hub.grant('--door', 'watch');
      const page = await browser.newPage();
      await page.goto(`${hub.url}/console`);
      await page.getByLabel('Token').fill('no töken');
      await page.getByRole('button', { name: 'Watch' }).click();
      await page.getByText('This is no token').waitFor();
      await page.getByLabel('Token').fill(`nbg_${'x'.repeat(43)}`);
      await page.keyboard.press('Enter');
      await page.getByText('The token is none that was issued here').waitFor();
      await page.getByLabel('Token').fill(` ${token}\n`);
      await page.keyboard.press('Enter');
      await page.getByText('watching', { exact: true }).waitFor();
      expect(page.url()).not.toContain(token);
      const links = await page.getByRole('navigation').getByRole('link').allTextContents();
      expect(links).toEqual(['Overview', 'Calls', 'Servers']);
      await page.getByRole('link', { name: 'Calls', exact: true }).click();
      await page.getByRole('link', { name: 'shop · read' }).first().click();
      await page.getByRole('heading', { name: 'shop · read', level: 1 }).waitFor();
      expect(await page.getByText('private word').count()).toBe(0);
      for (const hash of ['#/servers/shop', '#/try/shop/read', '#/grants', '#/overview']) {
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        const buttons = await page.getByRole('main').getByRole('button').allTextContents();
        expect([hash, buttons]).toEqual([hash, []]);
      }
      await hub.run('grant', 'revoke', id);
      await page.getByText('its grant has ended').waitFor();
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
      await page.close();
    });
  },
);
