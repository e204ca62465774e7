// @module-tag deep
// @module-tag P-234

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';
import { pixel, rich } from './support/hostile-outputs.js';

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20" onload="window.pwned=1"><script>window.pwned=1</script><rect width="30" height="20"/></svg>`;

describe('text cells', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  const folders: string[] = [];
  afterEach(() => stage.clear());
  afterAll(async () => {
    await stage.close();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  it('show lists of tasks as boxes that say what they are, and that nobody can tick', drivesBrowser, async () => {
    const source =
      '- [ ] write *it*\n- [x] think\n- other\n\n1. [x] one\n\n   two\n\n<input type="checkbox" autofocus> <i nb-part="1-0">a</i>';
    const host = await stage.host({ cells: [{ type: 'markdown', source }] });
    const { page, faults } = await stage.window(host);
    const boxes = page.locator('.prose').getByRole('checkbox');
    await boxes.nth(2).waitFor();
    expect(await boxes.count()).toBe(3);
    expect(
      await boxes.evaluateAll((all) => all.map((box) => [(box as HTMLInputElement).checked, (box as HTMLInputElement).disabled])),
    ).toEqual([
      [false, true],
      [true, true],
      [true, true],
    ]);
    expect(await page.getByRole('checkbox', { name: 'write *it*' }).count()).toBe(1);
    expect(await page.locator('.prose li').allTextContents()).toEqual(['write it', 'think', 'other', 'one\ntwo\n']);
    expect(faults).toEqual([]);
  });

  it('show images beside the file, attachments, and neither from elsewhere', drivesBrowser, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'notebook-images-'));
    folders.push(folder);
    await mkdir(join(folder, 'images'));
    await writeFile(join(folder, 'plot 1.png'), Buffer.from(pixel, 'base64'));
    await writeFile(join(folder, 'images/drawing.svg'), svg);
    await writeFile(join(folder, 'notes.png'), 'no image');
    const cells = [
      {
        cell_type: 'markdown',
        source:
          '![a](plot%201.png) ![b](images/drawing.svg?x#y) ![c](attachment:dot.png)\n\n![none](none.png) ![notes](notes.png) ![up](../up.png) ![web](//evil.example/x.png) ![root](/app.js)',
        attachments: { 'dot.png': { 'image/png': pixel } },
      },
      {
        cell_type: 'code',
        source: 'show',
        execution_count: null,
        outputs: [rich({ 'text/html': '<b>x</b><img src="plot 1.png" alt="z">' })],
      },
    ];
    const file = join(folder, 'analysis.ipynb');
    const whole = {
      nbformat: 4,
      nbformat_minor: 5,
      metadata: {},
      cells: cells.map((cell, at) => ({ id: `c${at}`, metadata: {}, ...cell })),
    };
    await writeFile(file, JSON.stringify(whole));
    const host = await stage.realHost({ file, scenes: {} });
    const { page, faults } = await stage.window(host);
    const images = page.locator('.prose img');
    // What is no image is there, with no size, until the window has said so.
    await expect
      .poll(() => images.evaluateAll((all) => all.map((image) => [image.getAttribute('alt'), (image as HTMLImageElement).naturalWidth])))
      .toEqual([
        ['a', 1],
        ['b', 30],
        ['c', 1],
      ]);
    expect(await page.locator('.prose .not-loaded').allTextContents()).toEqual([
      'The image "none.png" is not shown: there is no such file beside the notebook.',
      'The image "notes.png" is not shown: it is no image that a window shows.',
      'The image "../up.png" is not shown: it is not below the folder of the notebook.',
      'Image not loaded: web',
      'Image not loaded: root',
    ]);
    await expect.poll(() => page.locator('.html-output img').evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    expect(faults).toEqual([]);
  });
});
