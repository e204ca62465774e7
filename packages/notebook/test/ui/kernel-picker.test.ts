// @module-tag deep
// @module-tag P-214

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { createNotebookHost, type NotebookHost } from '../../src/host/notebook-host.js';
import { bareUser, makeVenv, sciencePython, temporaryProject, writeProgram, writeSpec } from '../kernels/support/projects.js';
import { Stage } from './support/browser.js';
import { builtUi } from './support/built-ui.js';

const noBrowser = 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set';
/** Pictures for people: a folder for them. */
const shots = process.env.NOTEBOOK_SHOTS;

/** A notebook in a project with an environment of its own, one without ipykernel, a kernelspec that is broken, and `python3` on PATH. */
async function openProject(): Promise<{ host: NotebookHost; project: string; own: string }> {
  const [home, project] = [temporaryProject(), temporaryProject()];
  writeProgram(join(home, 'bin', 'python3'), `exec '${await sciencePython()}' "$@"`);
  const own = await makeVenv(join(project, '.venv'), { ipykernel: true });
  await makeVenv(join(project, 'venv'), { ipykernel: false });
  writeSpec(join(home, '.local', 'share', 'jupyter'), 'ir', { argv: ['R', '-e', 'IRkernel::main()'], display_name: 'R', language: 'R' });
  const file = join(project, 'analysis.ipynb');
  const cell = { cell_type: 'code', id: 'a', metadata: {}, outputs: [], execution_count: null, source: 'import sys\nprint(sys.prefix)' };
  writeFileSync(file, JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [cell] }));
  const kernels = { wanted: 'auto', isAttended: true, env: bareUser(home) };
  const host = createNotebookHost({ file, kernels, uiFolder: await builtUi() });
  onTestFinished(() => host.close().catch(() => {}));
  await host.start();
  return { host, project, own };
}

describe('the kernel in the window', { timeout: 180_000 }, () => {
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('is named in the bar, listed and switched by keyboard, and the folder’s own one is asked about', drivesBrowser, async ({ skip }) => {
    skip(!findChromium(), noBrowser);
    const { host, project, own } = await openProject();
    const { page, faults } = await stage.window(host);
    page.setDefaultTimeout(60_000);
    const opener = page.getByRole('button', { name: 'Choose the kernel' });
    await page.locator('.kernel[data-state="idle"]').waitFor();
    expect(await opener.innerText()).toMatch(/^Python 3\.\d+\.\d+ \(python3\) ·\s+Idle/);
    const question = 'This folder has its own Python (.venv). Use it? It will run code of this folder.';
    // What code may do then is said with the question.
    await page.getByText(`${question} It is a program of this machine that runs as its user`).waitFor();

    await opener.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Kernel' });
    const list = dialog.getByRole('list', { name: 'Kernels' });
    await list.waitFor();
    // The one that runs has the keyboard.
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-current'))).toBe('true');
    // The machine may have kernelspecs of its own.
    const offers = (await list.getByRole('button').allInnerTexts()).filter((text) => !text.includes('Installed for Jupyter'));
    expect(offers).toEqual([
      expect.stringMatching(/^Python 3\.\d+\.\d+ \(\.venv\)\s+Of this folder · /),
      expect.stringMatching(/^Python 3\.\d+\.\d+ \(python3\) in use\s+On this machine · /),
      expect.stringMatching(/^Python \(Pyodide\)\s+Comes with Notebridge$/),
    ]);
    const others = dialog.getByRole('list', { name: 'Not usable as they are' });
    expect(await others.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/\(venv\)\s+it has no ipykernel\s+\/.*-m pip install ipykernel$/),
      expect.stringMatching(/^R\s+its program "R" is not on PATH/),
    ]);
    expect(await dialog.innerText()).toContain('Nothing stands between its code and this machine.');
    if (shots !== undefined)
      for (const width of [360, 1024, 1600]) {
        await page.setViewportSize({ width, height: 800 });
        await page.screenshot({ path: join(shots, `kernels-${width}.png`) });
      }
    await page.setViewportSize({ width: 1280, height: 800 });

    await list.getByRole('button', { name: '.venv' }).focus();
    await page.keyboard.press('Enter');
    const asked = page.getByRole('alertdialog', { name: question });
    expect(await asked.innerText()).toContain(project);
    expect(await asked.innerText()).toContain('Nothing stands between its code and this machine.');
    expect(host.kernelChoice?.id).not.toBe(own);
    await asked.getByRole('button', { name: 'Use it' }).click();
    await page.locator('.kernel-name', { hasText: '(.venv)' }).waitFor();
    await page.getByText(question).waitFor({ state: 'detached' });
    await page.locator('.kernel[data-state="idle"]').waitFor();
    await host.callTool('run_code_cell', { cellId: 'a' });
    await page.getByText(join(project, '.venv'), { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  it('can be reached at 360 pixels, and a banner’s no is kept', drivesBrowser, async ({ skip }) => {
    skip(!findChromium(), noBrowser);
    const { host } = await openProject();
    const { page, faults } = await stage.window(host, { viewport: { width: 360, height: 700 } });
    page.setDefaultTimeout(60_000);
    await page.locator('.kernel[data-state="idle"]').waitFor();
    for (const width of [1600, 1024, 360]) {
      await page.setViewportSize({ width, height: 700 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      if (shots !== undefined) await page.screenshot({ path: join(shots, `kernel-bar-${width}.png`) });
    }
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('This folder has its own Python').waitFor({ state: 'detached' });
    expect(host.kernelChoice?.proposal).toBeNull();
    await page.getByRole('button', { name: 'Choose the kernel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Kernel' });
    await dialog.getByRole('list', { name: 'Kernels' }).waitFor();
    const box = await dialog.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 360).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });
});
