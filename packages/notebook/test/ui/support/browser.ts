import { text } from 'node:stream/consumers';
import type { Browser, BrowserContext, BrowserContextOptions, Download, Page } from 'playwright-core';
import { openChromium } from '../../../../../scripts/tests/open-chromium.mjs';
import { createNotebookHost, type NotebookHost } from '../../../src/host/notebook-host.js';
import { builtUi, removeBuiltUi } from './built-ui.js';
import { openHost, type TestHost, type TestHostOptions } from './host.js';
import { type Scenes, ToyKernel } from './toy-kernel.js';

/** The text of a file that the browser has saved. That may be the browser of the whole run, whose files only it can read. */
export async function textOf(download: Download): Promise<string> {
  return text(await download.createReadStream());
}

/** A window on a host, and what went wrong in it. */
export interface TestWindow {
  page: Page;
  /** Errors, refusals of the policy, dialogs, and requests to any other host. Empty after every good test. */
  faults: string[];
}

/** Browser, hosts and windows of one test file. Every other host is out of reach: what needs the network fails. */
export class Stage {
  #browser: Browser | undefined;
  readonly #contexts: BrowserContext[] = [];
  readonly #hosts: { close(): Promise<void> }[] = [];

  async host(options: TestHostOptions): Promise<TestHost> {
    const host = await openHost(options);
    this.#hosts.push(host);
    return host;
  }

  /** The host that people use, on a file or without one, with a kernel that knows a few words. */
  async realHost({ file, scenes }: { file: string | undefined; scenes: Scenes }): Promise<NotebookHost> {
    const uiFolder = await builtUi();
    const createBeside = (other: string) => createNotebookHost({ file: other, kernel: new ToyKernel(scenes), uiFolder });
    const host = createNotebookHost({ file, title: 'analysis.ipynb', kernel: new ToyKernel(scenes), uiFolder, createBeside });
    this.#hosts.push(host);
    await host.start();
    return host;
  }

  /** `begin` runs in the page before anything of it does. */
  async window(host: { readonly url: string }, options: BrowserContextOptions = {}, begin?: () => void): Promise<TestWindow> {
    this.#browser ??= await openChromium();
    // Bundled before the first page waits for it.
    await builtUi();
    const context = await this.#browser.newContext(options);
    this.#contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const { url } = host;
    const faults = watch(page, new URL(url).origin);
    if (begin) await page.addInitScript(begin);
    await page.goto(url);
    await page.locator('.title', { hasText: 'analysis' }).waitFor();
    return { page, faults };
  }

  /** After each test: windows first, so that none complains of a lost connection. */
  async clear(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
    for (const host of this.#hosts.splice(0)) await host.close();
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await removeBuiltUi();
  }
}

function watch(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // What a window says while it looks for a host that is away.
    const isSearch = /WebSocket connection to/.test(message.text()) || message.location().url.endsWith('/challenge');
    if (message.type() === 'error' && !isSearch) faults.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !/^(?:data|blob):/.test(request.url())) faults.push(`request: ${request.url()}`);
  });
  return faults;
}
