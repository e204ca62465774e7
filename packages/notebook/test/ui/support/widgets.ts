import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { expect } from 'vitest';
import { createNotebookHost, type NotebookHost } from '../../../src/host/notebook-host.js';
import { createJupyterKernel } from '../../../src/kernel/jupyter/jupyter-kernel.js';
import { sciencePython } from '../../kernel/support/jupyter-harness.js';
import { builtUi } from './built-ui.js';

const folders = new WeakMap<NotebookHost, string>();

/** A notebook with a kernel of a Python that has ipywidgets. */
export async function openWidgetHost(): Promise<NotebookHost> {
  const folder = mkdtempSync(join(tmpdir(), 'notebook-widgets-'));
  const kernel = createJupyterKernel({ python: await sciencePython(), folder });
  const host = createNotebookHost({ file: join(folder, 'analysis.ipynb'), kernel, uiFolder: await builtUi() });
  folders.set(host, folder);
  await host.start();
  await host.session.start();
  await run(host, 'import ipywidgets as w, time\nfrom IPython.display import display');
  return host;
}

/** Ends it, and removes its folder. */
export async function closeWidgetHost(host: NotebookHost): Promise<void> {
  await host.close();
  rmSync(folders.get(host) ?? '', { recursive: true, force: true });
}

/** The next test begins with an empty notebook, and the kernel as it is. */
export function clearCells(host: NotebookHost): void {
  for (const { id } of host.session.document.cells) host.session.document.delete(id, person);
}

const person = { by: { kind: 'person' as const, name: 'a test' } };

/** Adds a cell at the end and runs it. Throws what the code throws. Returns its id, and what it has printed or shown as text. */
export async function run(host: NotebookHost, source: string): Promise<{ cellId: string; text: string }> {
  const { document } = host.session;
  const { id } = document.insert(document.cells.length, { type: 'code', source }, person);
  return rerun(host, id);
}

/** The same of a cell that is there. */
export async function rerun(host: NotebookHost, cellId: string): Promise<{ cellId: string; text: string }> {
  const { status, outputs } = await host.session.run(cellId, person);
  const text = outputs.map((output) => textOf(output as never)).join('');
  if (status !== 'ok') throw new Error(text);
  return { cellId, text };
}

function textOf({ text, data, evalue }: { text?: string; data?: { 'text/plain'?: string }; evalue?: string }): string {
  return text ?? evalue ?? data?.['text/plain'] ?? '';
}

/** The value of an expression in the kernel, as Python writes it. The cell that asks is deleted. */
export async function askKernel(host: NotebookHost, expression: string): Promise<string> {
  const { cellId, text } = await run(host, expression);
  host.session.document.delete(cellId, person);
  return text;
}

/** Until the kernel has the value: a message of a window takes a moment. */
export async function waitForValue(host: NotebookHost, expression: string, value: string | RegExp): Promise<void> {
  const asked = () => askKernel(host, expression);
  if (typeof value === 'string') await expect.poll(asked, { timeout: 20_000 }).toBe(value);
  else await expect.poll(asked, { timeout: 20_000 }).toMatch(value);
}

/** The page in which the widget of a cell is shown. */
export async function frameOf(page: Page, cellId: string): Promise<Frame> {
  const cell = page.locator(`.cell[data-cell-id="${cellId}"]`);
  await cell.scrollIntoViewIfNeeded();
  const element = cell.locator('iframe.sandboxed-frame').first();
  await element.waitFor();
  const frame = await (await element.elementHandle())?.contentFrame();
  if (!frame) throw new Error('The widget has no frame.');
  await frame.locator('.widgets > *').first().waitFor();
  return frame;
}
