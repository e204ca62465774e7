// @module-tag deep

import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { launchColabBrowser } from '../fixtures/colab-page/chromium.js';
import { serveColabPage } from '../fixtures/colab-page/serve.js';
import { Program } from '../support/program.js';

type Browser = Awaited<ReturnType<typeof launchColabBrowser>>;
type BrowserPage = Awaited<ReturnType<Browser['open']>>;

describe('a real Chromium at https://colab.research.google.com', () => {
  let program: Program;
  let server: Awaited<ReturnType<typeof serveColabPage>>;
  const browsers: Browser[] = [];

  beforeEach(async ({ skip }) => {
    skip(findChromium() === undefined, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
    server = await serveColabPage();
    program = await Program.open();
  });

  afterEach(async () => {
    for (const browser of browsers.splice(0)) await browser.close();
    await server?.close();
    await program?.close();
  });

  const launch = async (grantLocalNetwork: boolean): Promise<Browser> => {
    const browser = await launchColabBrowser({ pagePort: server.port, publicAddress: true, grantLocalNetwork });
    browsers.push(browser);
    return browser;
  };
  const consent = (page: BrowserPage): Promise<void> =>
    page.locator('dialog.local-mcp-connect-dialog button', { hasText: 'Connect' }).click();

  it('connects with the permission, works in the page, and goes on after a reload', { ...drivesBrowser, tags: ['P-039'] }, async () => {
    const { url } = await program.address();
    const page = await (await launch(true)).open(url);
    const opening = program.callTool('open_colab_browser_connection', { wait_seconds: 20 });
    await consent(page);
    expect(await opening).toMatchObject({ result: { structuredContent: { result: true } } });

    const { newCellId } = jsonOf(await program.callTool('add_code_cell', { cellIndex: 0, language: 'python', code: 'print(6 * 7)' }));
    expect(jsonOf(await program.callTool('run_code_cell', { cellId: newCellId }))).toMatchObject({ outputs: [{ text: ['42\n'] }] });

    await page.reload();
    const afterReload = program.callTool('get_cells', {});
    await consent(page);
    expect(jsonOf(await afterReload)).toMatchObject({ cells: [{ id: newCellId }] });
    expect(page.url()).not.toContain('mcpProxyToken');
  });

  it('tells of the local-network permission when the browser lacks it', { ...drivesBrowser, tags: ['P-319'] }, async () => {
    const { url } = await program.address();
    const page = await (await launch(false)).open(url);
    const opening = program.callTool('open_colab_browser_connection', { wait_seconds: 3 });
    await consent(page);
    const text = JSON.stringify(await opening);
    expect(text).toContain('"structuredContent":{"result":false}');
    expect(text).toContain('local-network permission');
  });

  it('shows a second tab that the notebook is taken, and keeps the first', drivesBrowser, async () => {
    const { url } = await program.address();
    const browser = await launch(true);
    const first = await browser.open(url);
    await consent(first);
    await program.until(() => program.notifications.some(({ method }) => method === 'notifications/tools/list_changed'));
    const second = await browser.open(url);
    await consent(second);
    await second.getByText('Server is busy').first().waitFor();
    expect(jsonOf(await program.callTool('get_cells', {}))).toHaveProperty('cells');
  });
});

/** The value in a tool result's one text. */
function jsonOf({ result }: JsonObject): JsonObject {
  const [block] = (result as { content: { text: string }[] }).content;
  return JSON.parse(block?.text ?? 'null') as JsonObject;
}
