// @module-tag deep
// @module-tag P-239

import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { createNotebookHost, type NotebookHost } from '../../src/host/notebook-host.js';
import { sciencePython } from '../kernels/support/projects.js';
import { everydayCells, everydayFiles } from '../support/everyday-cells.js';
import { Stage, type TestWindow } from './support/browser.js';
import { builtUi } from './support/built-ui.js';

/** Making the environment takes minutes where it is not there yet. */
const environmentMs = 900_000;
const runMs = 30_000;

const hasBrowser = findChromium() !== undefined;
const stage = new Stage();
let folder = '';
let host: NotebookHost | undefined;
let shown: TestWindow;
let page: Page;

beforeAll(async () => {
  if (!hasBrowser) return;
  const python = await sciencePython();
  folder = realpathSync.native(await mkdtemp(join(tmpdir(), 'notebridge-everyday-')));
  const place = join(folder, 'everyday');
  mkdirSync(place);
  for (const [name, text] of Object.entries(everydayFiles)) writeFileSync(join(place, name), text);
  const kernels = { wanted: python, isAttended: true };
  host = createNotebookHost({ file: join(place, 'analysis.ipynb'), kernels, uiFolder: await builtUi() });
  await host.start();
  shown = await stage.window(host, { permissions: ['clipboard-read', 'clipboard-write'], viewport: { width: 1024, height: 800 } });
  page = shown.page;
  page.setDefaultTimeout(runMs);
  await page.locator('.kernel[data-state="idle"]').waitFor({ timeout: 2 * runMs });
  await page.keyboard.press('Enter');
  await page.locator('.cell.editing').waitFor();
}, environmentMs);

afterAll(async () => {
  await stage.clear();
  await host?.close();
  await stage.close();
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
});

describe('everyday cells, pasted and run by a person in a window, in a Python of their own', { timeout: 2 * runMs }, () => {
  it.skipIf(!hasBrowser).each(everydayCells)(
    'a cell works as in Jupyter: $name',
    drivesBrowser,
    async ({ code, text, error, element, isFramed, seen = isFramed ? undefined : text, answer }) => {
      const cell = await run(code);
      if (answer !== undefined) {
        await cell.locator('.question-field:focus').waitFor();
        await page.keyboard.type(answer);
        await page.keyboard.press('Enter');
      }
      await untilDone(cell);
      const output = cell.locator('.outputs');
      await expect.poll(() => output.locator('.error-output').count()).toBe(error === undefined ? 0 : 1);
      if (error !== undefined) expect(await output.locator('.error-output').innerText()).toContain(error);
      if (seen !== undefined) await expect.poll(() => cell.evaluate(textSeen)).toMatch(seen);
      if (isFramed) await expectDrawn(output.locator('iframe').first());
      if (element !== undefined) await expectDrawn(output.locator(element).first());
      expect(shown.faults).toEqual([]);
    },
  );

  it.skipIf(!hasBrowser)('shows how far it is while it runs, and goes on after it', drivesBrowser, async () => {
    const cell = await run(
      'import os, time\nprint("\\r 25%", end="", flush=True)\nwhile not os.path.exists("go"): time.sleep(0.02)\nprint("\\r100%", flush=True)',
    );
    await expect.poll(() => cell.evaluate(textSeen)).toMatch(/^25%$/);
    expect(await cell.evaluate(({ classList }) => classList.contains('running'))).toBe(true);
    writeFileSync(join(folder, 'everyday', 'go'), '');
    await expect.poll(() => cell.evaluate(textSeen)).toMatch(/^100%$/);
    await untilDone(cell);
  });

  it.skipIf(!hasBrowser)('wraps the long lines of an error, in a narrow window too', drivesBrowser, async () => {
    const cell = await run(`def fail(text): raise ValueError(text)\n\nfail("words " * 100 + "x" * 500)  # ${'more '.repeat(40)}`);
    await untilDone(cell);
    const error = cell.locator('.error-output pre');
    for (const width of [1024, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await error.scrollIntoViewIfNeeded();
      await expect.poll(() => error.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    await page.setViewportSize({ width: 1024, height: 800 });
  });

  it.skipIf(!hasBrowser)('an endless loop is stopped by I I, and a restart by 0 0 forgets the variables', drivesBrowser, async () => {
    const endless = await run('print("on")\nwhile True: pass');
    await expect.poll(() => endless.evaluate(textSeen)).toMatch(/^on/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('i');
    await page.keyboard.press('i');
    await expect.poll(() => endless.evaluate(textSeen)).toMatch(/KeyboardInterrupt/);
    await page.keyboard.press('Enter');
    const after = await run('twice(6)');
    await untilDone(after);
    await expect.poll(() => after.evaluate(textSeen)).toBe('12');
    await page.keyboard.press('Escape');
    await page.keyboard.press('0');
    await page.keyboard.press('0');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Restart' }).click();
    await page.locator('.kernel[data-state="idle"]').waitFor();
    await page.keyboard.press('Enter');
    const forgotten = await run('twice');
    await untilDone(forgotten);
    await expect.poll(() => forgotten.evaluate(textSeen)).toMatch(/NameError/);
    expect(shown.faults).toEqual([]);
  });
});

/** Pastes into the empty cell at the end, in which the person is, and runs it: another one comes below. */
async function run(code: string): Promise<Locator> {
  const cell = page.locator('.cell').last();
  const id = await cell.getAttribute('data-cell-id');
  await page.evaluate((text) => navigator.clipboard.writeText(text), code);
  await page.keyboard.press('ControlOrMeta+v');
  await page.keyboard.press('Shift+Enter');
  await page.locator(`.cell[data-cell-id="${id}"] ~ .cell.editing`).waitFor();
  return page.locator(`.cell[data-cell-id="${id}"]`);
}

/** It has a number, and nothing of it runs. */
async function untilDone(cell: Locator): Promise<void> {
  await cell.locator('.count', { hasText: /^\[\d+\]$/ }).waitFor({ state: 'attached' });
}

/** Runs in the page: what stands in the outputs of a cell, in trees of their own too. */
function textSeen(cell: Element): string {
  const read = (node: Node): string => {
    if (!(node instanceof HTMLElement)) return node.textContent ?? '';
    const hosts = [...node.querySelectorAll('*')].filter(({ shadowRoot }) => shadowRoot);
    if (!node.shadowRoot && hosts.length === 0) return node.innerText;
    const inside = [...(node.shadowRoot ?? node).childNodes].filter(({ nodeName }) => nodeName !== 'STYLE');
    return inside.map(read).join('');
  };
  return [...cell.querySelectorAll('.output')]
    .map((output) => read(output).trim())
    .filter((text) => text !== '')
    .join('\n');
}

/** It is there, has a size, and an image is one. */
async function expectDrawn(part: Locator): Promise<void> {
  await part.waitFor();
  await expect.poll(() => part.evaluate((element) => (element instanceof HTMLImageElement ? element.naturalWidth : 1))).toBeGreaterThan(0);
  const box = await part.boundingBox();
  expect(box?.width).toBeGreaterThan(4);
  expect(box?.height).toBeGreaterThan(4);
}
