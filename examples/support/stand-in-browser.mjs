// Shows the stand-in for the Colab page: in a real Chromium at Colab's true origin where there is one, else as the same page
// code in Node.
import { createNodeColabPage } from '../../packages/notebridge/test/fixtures/colab-page/node-page.js';

/** How long a page may take to load or connect, in milliseconds. */
const patienceMs = 20_000;

/** @returns {Promise<{ kind: string, open(url: string): Promise<void>, reload(): Promise<void>, close(): Promise<void> }>} */
export async function startStandInBrowser() {
  // playwright-core and the certificate maker are worth loading only where they are of use.
  const { findChromium } = await import('../../scripts/tests/installed-chromium.mjs');
  const { launchColabBrowser } = await import('../../packages/notebridge/test/fixtures/colab-page/chromium.js');
  return findChromium() === undefined ? startInNode() : startInChromium(launchColabBrowser);
}

async function startInChromium(launchColabBrowser) {
  const { serveColabPage } = await import('../../packages/notebridge/test/fixtures/colab-page/serve.js');
  const server = await serveColabPage();
  const browser = await launchColabBrowser({ pagePort: server.port, publicAddress: true, grantLocalNetwork: true });
  let page;
  const consent = async () => {
    await page.locator('dialog.local-mcp-connect-dialog button', { hasText: 'Connect' }).click({ timeout: patienceMs });
  };
  return {
    kind: `Chromium ${browser.browser.version()}, at the page's true origin https://colab.research.google.com`,
    async open(url) {
      page = await browser.open(url);
      await consent();
    },
    async reload() {
      await page.reload({ timeout: patienceMs });
      await consent();
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

function startInNode() {
  let page;
  return {
    kind: 'Node (no Chromium found; the same page code)',
    async open(url) {
      page = createNodeColabPage({ url });
      await page.whenState('connected', { timeoutMs: patienceMs });
    },
    async reload() {
      page.reload();
      await page.whenState('connected', { timeoutMs: patienceMs });
    },
    async close() {
      page?.close();
    },
  };
}
