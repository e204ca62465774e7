// @module-tag deep
// @module-tag P-099

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { createNodeKernel } from '../../src/kernel/node-kernel.js';
import { type BuiltKernel, buildKernel } from '../kernel/support/built-kernel.js';
import { kernelReady } from '../lab/support/kernel-ready.js';
import { temporaryFolder } from './support/folder.js';
import { callTool, startHost } from './support/hosts.js';
import { installTimeoutMs, prepareJupyterLab, startJupyterLab } from './support/jupyterlab.js';
import { until } from './support/until.js';

type DiskNotebook = { cells: { id: string; source: string[]; outputs?: object[] }[]; metadata: Record<string, unknown> };

const timeoutMs = 60_000;
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
let built: BuiltKernel;
let browser: Browser | undefined;

beforeAll(async () => {
  if (findChromium() === undefined) return;
  [built] = await Promise.all([buildKernel(), prepareJupyterLab()]);
  browser = await openChromium();
}, installTimeoutMs);
afterAll(async () => {
  await browser?.close();
  await built?.dispose();
});

it('JupyterLab opens our file, and its save changes the edited cell alone', { ...drivesBrowser, timeout: 5 * timeoutMs }, async ({
  skip,
}) => {
  skip(browser === undefined, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
  const folder = await temporaryFolder();
  const path = join(folder, 'work.ipynb');
  await writeFile(path, JSON.stringify(existing));
  const host = await startHost({ file: path, kernel: createNodeKernel({ files: built.files }) });
  await callTool(host, 'add_text_cell', { cellIndex: 1, content: '## From the agent\n\nWith *emphasis*, and ü.' });
  const code = `import base64\nfrom IPython.display import Image, display\nprint("drawing")\ndisplay(Image(base64.b64decode("${pixel}")))`;
  const { newCellId: drawing } = await callTool(host, 'run_code', { code });
  await callTool(host, 'run_code', { code: '{"a": [1, 2.0]}' });
  await callTool(host, 'run_code', { code: '1 / 0' });
  await host.save();
  const before = await readFile(path, 'utf8');

  const urlOf = await startJupyterLab(folder, join(folder, '.home'));
  const page = await openPage(urlOf('work.ipynb'));
  await page.locator('.jp-Notebook .jp-Cell').nth(4).waitFor();
  await page.locator('.jp-RenderedMarkdown h2', { hasText: 'From the agent' }).waitFor();
  await page.locator('.jp-OutputArea-output', { hasText: 'drawing' }).waitFor();
  expect(await page.locator('.jp-RenderedImage img').evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
  await page.locator('.jp-OutputArea-output', { hasText: 'ZeroDivisionError' }).waitFor();
  // What its own kernel says of itself goes into the metadata, once that runs.
  await kernelReady(page);

  await page.locator('.jp-CodeCell .cm-content', { hasText: 'drawing' }).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('  # edited in JupyterLab');
  await page.keyboard.press('Control+s');
  await until(async () => (await readFile(path, 'utf8')).includes('edited in JupyterLab'));

  const text = await readFile(path, 'utf8');
  const after: DiskNotebook = JSON.parse(text);
  const expected: DiskNotebook = JSON.parse(before);
  const edited = expected.cells.find(({ id }) => id === drawing);
  edited?.source.push(`${edited.source.pop()}  # edited in JupyterLab`);
  // JupyterLab names the kernel that it has started for the file, and its language; of the rest it changes nothing.
  const { kernelspec, language_info: languageInfo, ...kept } = after.metadata;
  expect({ ...after, metadata: kept }).toEqual({ ...expected, metadata: ours });
  expect(kernelspec).toEqual({ display_name: 'Python 3 (ipykernel)', language: 'python', name: 'python3' });
  expect(languageInfo).toMatchObject({ name: 'python', nbconvert_exporter: 'python' });

  await until(() => host.session.document.get(String(drawing)).cell.source.endsWith('  # edited in JupyterLab'));
  expect(host.fileState).toEqual({ kind: 'saved' });
  expect(host.session.document.metadata.language_info).toEqual(languageInfo);
  await callTool(host, 'update_cell', { cellId: 'told', content: 'told = "anew"' });
  await host.save();
  // Neither program has changed a letter of what the other wrote.
  expect(await readFile(path, 'utf8')).toBe(text.replace(String.raw`told = \"once\"`, String.raw`told = \"anew\"`));
});

async function openPage(url: string): Promise<Page> {
  const page = await (browser as Browser).newPage({ viewport: { width: 1280, height: 1600 } });
  page.setDefaultTimeout(timeoutMs);
  await page.goto(url);
  await page.locator('.jp-Notebook .jp-Cell').first().waitFor();
  return page;
}

const ours = { 'x-notebridge-test': { deep: [1, 2.5, 'ü'], z: null, a: true }, title: 'Work' };

/** As another program has left it, with keys that nobody knows. Sorted, since JupyterLab sorts the keys of all objects. */
const existing = {
  cells: [
    {
      cell_type: 'code',
      execution_count: 7,
      id: 'told',
      metadata: { tags: ['keep'], 'x-unknown': { a: [], b: 1 } },
      outputs: [{ name: 'stdout', output_type: 'stream', text: ['kept\n'] }],
      source: ['told = "once"'],
    },
  ],
  metadata: { ...ours, kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
  nbformat: 4,
  nbformat_minor: 5,
};
