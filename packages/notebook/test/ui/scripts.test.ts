// @module-tag deep
// @module-tag P-235

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import type { Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';
import { rich } from './support/hostile-outputs.js';
import { escapes } from './support/hostile-scripts.js';

const chart = `<div id="chart">waits</div><script>document.getElementById('chart').textContent = 'drawn ' + [1, 2].map((x) => x * 2);</script>`;

describe('outputs with scripts', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('say what was removed, and run apart once the notebook is trusted, as long as it is', {
    ...drivesBrowser,
    timeout: 60_000,
  }, async () => {
    const host = await stage.host({ cells: [{ source: '', outputs: [rich({ 'text/html': chart, 'text/plain': 'a chart' })] }] });
    const { page, faults } = await stage.window(host);
    await page.getByText('waits').waitFor();
    expect(await page.locator('.removed').textContent()).toMatch(/^A script was removed from this output\./);
    expect(await page.locator('iframe').count()).toBe(0);
    await page.getByRole('button', { name: 'Trust this notebook' }).click();
    const frame = await frameOf(page);
    await frame.getByText('drawn 2,4').waitFor();
    await page.getByRole('button', { name: 'Do not trust it any more' }).click();
    await page.getByText('waits').waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
    expect(host.asked.filter((action) => action.do === 'trustOutputs')).toEqual([
      { do: 'trustOutputs', trusted: true },
      { do: 'trustOutputs', trusted: false },
    ]);
    expect(faults).toEqual([]);
  });

  it('use what outputs before them bring, are as high as what they show, and see only their own', {
    ...drivesBrowser,
    timeout: 60_000,
  }, async () => {
    const outputs = [
      rich({ 'text/html': '<script>globalThis.library = (x) => "<p style=\\"height: 321px; margin: 0\\">drawn " + x</script>' }),
      rich({ 'text/html': '<div id="place"></div>' }),
      rich({ 'application/javascript': 'document.getElementById("place").innerHTML = library(typeof other); element.style.color = "red"' }),
      rich({ 'text/html': '<p>other</p><script>globalThis.other = 1</script>' }),
    ];
    const host = await stage.host({ cells: [{ source: '', outputs }], outputsTrusted: true });
    const { page, faults } = await stage.window(host);
    const frame = await frameOf(page);
    await frame.getByText('drawn undefined').waitFor();
    await expect.poll(async () => (await page.locator('.sandboxed-output').first().boundingBox())?.height).toBe(321);
    expect(await page.locator('.sandboxed-output').count()).toBe(2);
    expect(await page.getByText('This output brings scripts').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  it(
    'show a page that is the whole of an output in their own, and say that one from elsewhere was removed, which no trust brings back',
    drivesBrowser,
    async () => {
      const outputs = [
        rich({ 'text/html': '<b>map</b><iframe srcdoc="<p>within</p><script>top.pwned=1</script>"></iframe>' }),
        rich({ 'text/html': '<b>map</b><iframe src="https://maps.example/"></iframe>' }),
      ];
      const host = await stage.host({ cells: [{ source: '', outputs }], outputsTrusted: true });
      const { page } = await stage.window(host);
      await page.getByText('A page within this output was removed').waitFor();
      await (await frameOf(page)).getByText('within').waitFor();
      expect(await page.locator('iframe').count()).toBe(1);
      expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    },
  );

  describe('that are hostile', () => {
    let spy: Server;
    const heard: string[] = [];
    beforeEach(async () => {
      heard.length = 0;
      spy = createServer((socket) => {
        heard.push('a connection');
        socket.on('data', (data) => heard.push(String(data).split('\r\n')[0] ?? '')).on('error', () => {});
      }).listen(0, '127.0.0.1');
      await once(spy, 'listening');
    });
    afterEach(async () => {
      spy.close();
    });

    it('reach no server, no storage, no other page and nothing of the window', { ...drivesBrowser, timeout: 180_000 }, async () => {
      const { port } = spy.address() as AddressInfo;
      const all = escapes(`127.0.0.1:${port}`);
      const host = await stage.host({
        cells: all.map(([, html]) => ({ source: '', outputs: [rich({ 'text/html': `<p>seen</p>${html}<script>${done}</script>` })] })),
        outputsTrusted: true,
      });
      const { page } = await stage.window(host, {}, () => {
        Object.assign(window, { said: [] });
        addEventListener('message', ({ data }) => {
          if (typeof data === 'string') (window as unknown as { said: string[] }).said.push(data);
        });
      });
      const { url: before } = { url: page.url() };
      for (const [index, [name]] of all.entries()) {
        await page.locator('.cell').nth(index).scrollIntoViewIfNeeded();
        const frame = await frameOf(page, index);
        await frame.locator('#done').waitFor({ state: 'attached' });
        expect([name, ...heard]).toEqual([name]);
      }
      expect(await page.evaluate(() => (window as unknown as { said: string[] }).said.filter((each) => !each.startsWith('ok')))).toEqual(
        [],
      );
      expect(page.url()).toBe(before);
      expect(page.context().pages().length).toBe(1);
      expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
      expect(
        host.fetched.filter(
          (path) => !/^\/(?:app\.(?:js|css)|(?:chunk|page-content|page-frame)-\w+\.js|sandboxed\.html|icon\.svg|enter)?$/.test(path),
        ),
      ).toEqual([]);
    });

    it('scripts that leave their page send nothing, and are gone', { ...drivesBrowser, timeout: 60_000 }, async () => {
      const { port } = spy.address() as AddressInfo;
      const html = `<p>here</p><script>location = "http://127.0.0.1:${port}/secret"</script>`;
      const host = await stage.host({
        cells: [{ source: '', outputs: [rich({ 'text/html': html })] }, { source: '' }],
        outputsTrusted: true,
      });
      const { page } = await stage.window(host);
      await page.locator('iframe').waitFor();
      await expect.poll(() => page.frames().some((frame) => frame.url().startsWith('chrome-error:')), { timeout: 20_000 }).toBe(true);
      // A browser connects before it asks whether it may. No request follows.
      expect(heard.filter((line) => line !== 'a connection')).toEqual([]);
    });

    it.each([
      ['compute for ever', 'for (;;);'],
      ['send for ever', 'for (;;) parent.postMessage({ type: "height", height: Math.random() * 1000 }, "*");'],
      [
        'grow for ever',
        'new ResizeObserver(() => { document.body.style.height = document.body.offsetHeight + 100 + "px" }).observe(document.body)',
      ],
      [
        'claim heights',
        'for (const height of [1e9, -5, NaN, Infinity, "9", {}, null]) parent.postMessage({ type: "height", height }, "*")',
      ],
      ['take the keyboard', 'setInterval(() => { window.focus(); document.body.tabIndex = 0; document.body.focus(); }, 20)'],
    ])('scripts that %s leave the window to the person', { ...drivesBrowser, timeout: 60_000 }, async (_, script) => {
      const outputs = [rich({ 'text/html': `<p>here</p><script>setTimeout(() => { ${script} }, 300)</script>` })];
      const host = await stage.host({ cells: [{ source: 'print 1' }, { source: '', outputs }], outputsTrusted: true });
      const { page } = await stage.window(host);
      // One that claims no height is there, and cannot be seen.
      await page.locator('.sandboxed-frame').or(page.getByText('it took the keyboard')).waitFor({ state: 'attached' });
      await page.locator('.cell').first().locator('.source').click();
      // It begins while the person types; where it takes the keyboard away, it is gone after a few times.
      await page.waitForTimeout(1500);
      if (script.includes('focus()')) await page.getByText('it took the keyboard from you').waitFor();
      await page.keyboard.press('Control+End');
      await page.keyboard.type('23');
      await expect.poll(() => host.document.cells[0]?.source).toBe('print 123');
      await page.getByRole('button', { name: 'Run cell 1' }).click();
      await page.locator('.stream-output', { hasText: '123' }).waitFor();
      const heights = await page.locator('.sandboxed-output').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
      for (const height of heights) expect(height).toBeLessThanOrEqual(2000);
    });

    it('scripts that are not trusted do not run, whatever they look like', drivesBrowser, async () => {
      const outputs = escapes('127.0.0.1:1').map(([, html]) => rich({ 'text/html': html, 'text/plain': 'plain' }));
      const host = await stage.host({ cells: [{ source: '', outputs }] });
      const { page } = await stage.window(host);
      await page.locator('.removed').first().waitFor();
      expect(await page.locator('iframe').count()).toBe(0);
      expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    });
  });
});

const done = 'document.body.append(Object.assign(document.createElement("i"), { id: "done" }))';

async function frameOf(page: Page, index?: number): Promise<Frame> {
  const within = index === undefined ? page.locator('.cell') : page.locator('.cell').nth(index);
  const frame = await (await within.locator('.sandboxed-frame').first().elementHandle())?.contentFrame();
  if (!frame) throw new Error('There is no frame');
  return frame;
}
