import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ServedHub } from './served-hub.js';

/** The console in a tab that is signed in; closed by `using`. What the browser complained of fails the test. */
export class ConsoleTab implements AsyncDisposable {
  readonly page: Page;
  readonly #faults: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('pageerror', ({ message }) => this.#faults.push(message));
    // Among them what the content security policy refused.
    // What the hub refuses is said on the page.
    page.on('console', (line) => {
      if (line.type() === 'error' && !line.text().startsWith('Failed to load resource')) this.#faults.push(line.text());
    });
  }

  static async open(
    browser: Browser,
    hub: ServedHub,
    { prepare }: { prepare?: (page: Page) => Promise<unknown> } = {},
  ): Promise<ConsoleTab> {
    const tab = new ConsoleTab(await browser.newPage({ viewport: { width: 1280, height: 800 } }));
    await prepare?.(tab.page);
    await tab.page.goto(await consoleAddress(hub));
    await tab.page
      .getByRole('status')
      .filter({ hasText: /^live$/ })
      .waitFor();
    return tab;
  }

  /** Opens a view, as a link to it would. */
  async go(hash: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
    expect(this.#faults).toEqual([]);
  }
}

/** An address that opens the console once. */
export async function consoleAddress(hub: ServedHub): Promise<string> {
  const answer = await hub.request('/api/v1/hub/console/links', { method: 'POST', token: hub.ownerToken, body: {} });
  return ((await answer.json()) as { address: string }).address;
}
