import type { JsonObject } from '@notebridge/protocol/json';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { jsonOf, type OpenToolProxy, openToolProxy, token } from '../support/tool-proxy.js';

let open: OpenToolProxy;
beforeAll(async () => {
  open = await openToolProxy({ version: '1.2.3' });
});
afterAll(() => open.close());

describe('/openapi.json', () => {
  it('is OpenAPI 3.1, to a public validator, and needs no token', { tags: ['deep'] }, async () => {
    const response = await fetch(`${open.origin}/openapi.json`);
    expect(response.headers.get('content-type')).toContain('application/json');
    const document = (await response.json()) as JsonObject;
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
    expect(await new Validator().validate(document)).toEqual({ valid: true });
  });

  it('describes every route that there is', { tags: ['P-078'] }, async () => {
    const { paths } = (await jsonOf(open.get('/openapi.json'))) as { paths: Record<string, object> };
    const routes = Object.keys(paths).map((path) => path.replace(/\{(\w+)\}/g, ':$1'));
    const { detail } = await jsonOf(open.get('/nothing'));
    const served =
      String(detail)
        .split('There is: ')[1]
        ?.split(/, |\.$/) ?? [];
    const described = served.map((route) => route.replace(/^\S+ /, '')).filter((route) => !['', '/openapi.json', '/docs'].includes(route));
    expect(described.sort()).toEqual(routes.sort());
  });
});

it('a caller that asks for the documents at another path is told of the page for people', { tags: ['deep'] }, async () => {
  expect(await jsonOf(open.get('/'))).toMatchObject({ detail: expect.stringContaining(' GET /docs,') });
});

describe('/docs', drivesBrowser, () => {
  it('shows the routes in a real Chromium and tries one out, with nothing from elsewhere and nothing refused by its policy', {
    tags: ['deep', 'P-358'],
  }, async ({ skip }) => {
    const executablePath = findChromium();
    skip(executablePath === undefined, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
    const browser = await openChromium();
    try {
      const page = await browser.newPage();
      const complaints: string[] = [];
      const asked: string[] = [];
      page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => asked.push(request.url()));
      const response = await page.goto(`${open.origin}/docs`);
      expect(response?.headers()['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
      await page.locator('.opblock-summary-path', { hasText: '/servers' }).waitFor();
      await page.locator('.opblock', { hasText: 'Call a tool, by the short path' }).click();
      await page.getByText('Idempotency-Key').first().waitFor();
      await page.getByRole('button', { name: 'Authorize' }).click();
      await page.locator('.auth-container input').fill(token);
      await page.locator('.auth-container').getByRole('button', { name: 'Apply credentials' }).click();
      await page.locator('.auth-container').getByRole('button', { name: 'Close' }).click();
      const call = page.locator('.opblock', { hasText: 'Call a tool, by the short path' });
      await call.getByRole('button', { name: 'Try it out' }).click();
      await call.locator('tr[data-param-name="server"] input').fill('github');
      await call.locator('tr[data-param-name="tool"] input').fill('hello');
      await call.locator('.body-param textarea').fill('{"arguments":{}}');
      await call.getByRole('button', { name: 'Execute' }).click();
      await call.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
      if (process.env.NOTEBRIDGE_SCREENSHOT !== undefined)
        await page.screenshot({ path: process.env.NOTEBRIDGE_SCREENSHOT, fullPage: true });
      expect(complaints).toEqual([]);
      expect(asked.filter((url) => !url.startsWith(open.origin) && !url.startsWith('data:'))).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
