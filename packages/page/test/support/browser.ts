import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { serveExample } from '../../../../examples/page/serve.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { bundle } from '../../scripts/bundle.mjs';

export const hasChromium = findChromium() !== undefined;

export interface ExampleOptions {
  /** Makes the page one of the public internet, so that Chromium's Local Network Access checks apply; a loopback page is exempt. */
  isPublic?: boolean;
  /** Texts that are served in place of files, by path. */
  replaced?: Record<string, string>;
}

/** The example page in a real Chromium, with the library as the sources are now. */
export class ExamplePage implements AsyncDisposable {
  readonly origin: string;
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained of: above all, faults against the page's content security policy. */
  readonly complaints: string[] = [];
  readonly #close: () => Promise<unknown>;

  private constructor(origin: string, page: Page, close: () => Promise<unknown>) {
    this.origin = origin;
    this.page = page;
    this.context = page.context();
    this.#close = close;
    page.setDefaultTimeout(10_000);
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      // That a dial failed is news of the network, and the subject of some tests.
      if (message.type() === 'error' && !/WebSocket|Failed to load/.test(message.text())) this.complaints.push(message.text());
    });
  }

  static async launch({ isPublic = false, replaced = {} }: ExampleOptions = {}): Promise<ExamplePage> {
    const { origin, close } = await serveExample({ replaced: { '/page.min.js': await bundle(), ...replaced } });
    const { port } = new URL(origin);
    const browser = await chromium.launch({
      executablePath: findChromium() ?? '',
      timeout: 30_000,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        ...(isPublic ? [`--ip-address-space-overrides=127.0.0.1:${port}=public`] : []),
      ],
    });
    const page = await (await browser.newContext()).newPage();
    return new ExamplePage(origin, page, () => Promise.all([browser.close(), close()]));
  }

  /** Opens the example with an address in the fragment, or without. */
  async open(address?: { token: string; port: number }): Promise<void> {
    await this.page.goto(`${this.origin}/${address ? `#mcpProxyToken=${address.token}&mcpProxyPort=${address.port}` : ''}`);
  }

  button(name: string): ReturnType<Page['getByRole']> {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** Waits until the page's status line says it. */
  async says(text: string): Promise<void> {
    await this.page.locator('#status', { hasText: text }).waitFor();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}
