/** A kernel in a real Chromium that can reach no host but the test's own server. */
import type { Page } from 'playwright-core';
import { openChromium } from '../../../../../scripts/tests/open-chromium.mjs';
import type { Completions, ExecuteOptions, Execution, KernelInfo, KernelState } from '../../../src/kernel/kernel.js';
import type { Output } from '../../../src/model/output.js';
import { buildKernel } from './built-kernel.js';
import { interruptGraceMs, type KernelHarness, type Measured, type MeasureOptions } from './kernel-harness.js';
import { servePage } from './page-server.js';

type Event = ({ output: Output; displayId?: string } & ({ type: 'output' } | { type: 'update' })) | { type: 'clear'; wait: boolean };
type Ended = { execution: Execution } | { error: { code?: string; message: string } };

export interface BrowserHarness extends KernelHarness {
  page: Page;
  /** The origins of all requests. */
  origins: Set<string>;
  /** Errors the page did not handle. */
  pageErrors: string[];
}

export async function openBrowserHarness({ isolated = true } = {}): Promise<BrowserHarness> {
  const built = await buildKernel();
  const server = await servePage(built, { isolated });
  const browser = await openChromium();
  const page = await browser.newPage();
  const origins = new Set<string>();
  const pageErrors: string[] = [];
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  page.on('pageerror', (error) => pageErrors.push(error.message));
  const kernel = await openPageKernel(page, server.url);
  return {
    page,
    origins,
    pageErrors,
    kernel,
    roundsNumbers: true,
    measure: (source, options = {}) =>
      page.evaluate(([code, given]) => (globalThis as unknown as PageScope).measureCell(code, given), [source, options] as const),
    async close() {
      await browser.close();
      await server.close();
      built.dispose();
    },
  };
}

/** What kernel-page.js puts into the page. */
interface PageScope {
  kernel: { state: KernelState; info: KernelInfo } & Omit<KernelHarness['kernel'], 'execute'>;
  openKernel(graceMs: number): Promise<void>;
  runCell(id: number, source: string): Promise<Ended>;
  abortCell(id: number): void;
  measureCell(source: string, options: MeasureOptions): Promise<Measured>;
}

async function openPageKernel(page: Page, url: string): Promise<KernelHarness['kernel']> {
  let nextId = 1;
  let state: KernelState = 'starting';
  let info: KernelInfo = { name: '', displayName: '', language: '', version: '' };
  const cells = new Map<number, ExecuteOptions>();
  const listeners = new Set<(state: KernelState) => void>();
  await page.exposeFunction('reportState', (next: KernelState) => {
    state = next;
    for (const listener of listeners) listener(next);
  });
  await page.exposeFunction('reportEvent', (id: number, event: Event) => {
    const options = cells.get(id);
    if (event.type === 'clear') options?.onClear?.(event.wait);
    else if (event.type === 'update') options?.onUpdate?.(event.displayId ?? '', event.output);
    else options?.onOutput(event.output, event.displayId);
  });
  await page.goto(url);
  const call = (name: 'start' | 'interrupt' | 'restart' | 'close') =>
    page.evaluate((method) => (globalThis as unknown as PageScope).kernel[method](), name);
  await page.waitForFunction(() => 'openKernel' in globalThis);
  await page.evaluate((graceMs) => (globalThis as unknown as PageScope).openKernel(graceMs), interruptGraceMs);
  return {
    get state() {
      return state;
    },
    get info() {
      return info;
    },
    async start() {
      await call('start');
      info = await page.evaluate(() => (globalThis as unknown as PageScope).kernel.info);
    },
    interrupt: () => call('interrupt'),
    restart: () => call('restart'),
    close: () => call('close'),
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    complete: (code, position): Promise<Completions> =>
      page.evaluate(([text, at]) => (globalThis as unknown as PageScope).kernel.complete(text, at), [code, position] as const),
    inspect: async () => undefined,
    async execute(source, options) {
      const id = nextId++;
      cells.set(id, options);
      options.signal?.addEventListener('abort', () => {
        void page.evaluate((cell) => (globalThis as unknown as PageScope).abortCell(cell), id);
      });
      const ended = await page.evaluate(([cell, code]) => (globalThis as unknown as PageScope).runCell(cell, code), [id, source] as const);
      if ('error' in ended) throw Object.assign(new Error(ended.error.message), { code: ended.error.code });
      return ended.execution;
    },
  };
}
