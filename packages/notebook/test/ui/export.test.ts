// @module-tag deep
// @module-tag P-257

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage, textOf } from './support/browser.js';

const dot = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

describe('the notebook as one HTML file', () => {
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('has formulas and images that come later than the rest, with all that they need', { ...drivesBrowser, timeout: 120_000 }, async ({
    skip,
  }) => {
    skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
    const folder = await mkdtemp(join(tmpdir(), 'notebook-export-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'dot.png'), dot);
    const outputs = [
      { output_type: 'display_data', data: { 'text/latex': '$\\frac{1}{2}$', 'text/plain': '…' }, metadata: {} },
      { output_type: 'display_data', data: { 'text/markdown': '*slanted* $x$ ![dot](dot.png)', 'text/plain': '…' }, metadata: {} },
    ];
    const cells = [
      { cell_type: 'markdown', id: 'a', metadata: {}, source: '# Title $y^2$\n\n![dot](dot.png)' },
      { cell_type: 'code', id: 'b', metadata: {}, source: 'show()', outputs, execution_count: 1 },
    ];
    await writeFile(join(folder, 'analysis.ipynb'), JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells }));
    const host = await stage.realHost({ file: join(folder, 'analysis.ipynb'), scenes: {} });
    const { page, faults } = await stage.window(host);
    await page.getByRole('button', { name: 'Notebook menu' }).click();
    const choose = page.getByRole('menuitem', { name: 'Export as HTML' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), choose]);
    const html = await textOf(download);
    expect(faults).toEqual([]);
    const other = await page.context().newPage();
    const requests: string[] = [];
    other.on('request', (request) => requests.push(request.url()));
    await other.route('http://exported.test/', (route) => route.fulfill({ contentType: 'text/html', body: html }));
    await other.goto('http://exported.test/');
    expect(await other.locator('.katex').count()).toBe(3);
    expect(await other.locator('.output em').innerText()).toBe('slanted');
    expect(
      await other.locator('img[alt=dot]').evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth)),
    ).toEqual([1, 1]);
    // Its styles hide what is for machines, and its fonts are in it.
    expect((await other.locator('.katex-mathml').first().boundingBox())?.height).toBeLessThan(5);
    await expect
      .poll(() => other.evaluate(() => [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family)))
      .toContain('KaTeX_Main');
    expect(requests.filter((url) => !url.startsWith('data:'))).toEqual(['http://exported.test/']);
  });
});
