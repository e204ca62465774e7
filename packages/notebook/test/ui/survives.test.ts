// @module-tag deep
// @module-tag P-680

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { temporaryFolder } from '../host/support/folder.js';
import { bundle, exitOf, onLine, type Program, startProgram } from '../host/support/programs.js';
import { Stage } from './support/browser.js';
import { builtUi } from './support/built-ui.js';

describe('a window whose program ends', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  /** How the notebook is opened, each time by another program. */
  async function prepare() {
    const folder = await temporaryFolder();
    const file = join(folder, 'analysis.ipynb');
    const script = await bundle('../../ui/support/host-program.ts');
    const ui = await builtUi();
    const open = async (): Promise<{ program: Program; url: string }> => {
      const program = startProgram(process.execPath, [script, file, ui, join(folder, 'state')]);
      return { program, url: await new Promise((resolve) => onLine(program, resolve)) };
    };
    const kill = async ({ program }: { program: Program }) => {
      program.kill('SIGKILL');
      await exitOf(program);
    };
    return { file, open, kill };
  }

  it('by a kill goes on with the next one, with what had been typed before and after, and says that the kernel is new', {
    ...drivesBrowser,
    tags: ['P-694'],
  }, async () => {
    const { file, open, kill } = await prepare();
    const first = await open();
    const { page, faults } = await stage.window(first);
    const saved = page.locator('.save-state');
    await page.locator('.inserter').getByRole('button', { name: 'Code' }).click();
    await page.keyboard.type('first = 1');
    await page.keyboard.press('Control+s');
    await expect.poll(() => saved.textContent()).toBe('Saved');
    await page.keyboard.type(' + 2');
    // The host has it, and the file does not.
    await page.keyboard.press('Shift+Enter');
    await page.locator('.cell').nth(1).waitFor();
    await expect.poll(() => saved.textContent()).toBe('Unsaved changes');
    await page.locator('.cm-content').first().click();
    await page.keyboard.press('Control+End');
    await kill(first);
    await page.getByRole('alert').filter({ hasText: 'trying again' }).waitFor();
    await page.keyboard.type(' + 3');
    expect(await saved.textContent()).toBe('Not saved');
    const banner = page.getByRole('alert').filter({ hasText: 'start it again in a terminal' });
    await banner.waitFor();
    expect(await banner.locator('code').textContent()).toBe(`notebridge notebook ${file}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    // There is one clipboard for all tests that share the browser: what another one copies meanwhile is in it.
    const copied = page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const write = navigator.clipboard.writeText.bind(navigator.clipboard);
          navigator.clipboard.writeText = (text) => write(text).then(() => resolve(text));
        }),
    );
    await banner.getByRole('button', { name: 'Copy my text' }).click();
    expect(await copied).toBe('first = 1 + 2 + 3');
    const second = await open();
    await banner.waitFor({ state: 'detached' });
    await page.getByText('Notebridge was started again, with a new kernel: variables are gone.').waitFor();
    await page.keyboard.press('Control+s');
    await expect.poll(() => saved.textContent()).toBe('Saved');
    expect(JSON.parse(await readFile(file, 'utf8')).cells[0].source.join('')).toBe('first = 1 + 2 + 3');
    expect(faults).toEqual([]);
    await kill(second);
  });

  it('in order says that it is saved of nothing that is not, and leaves its text to the next window', {
    ...drivesBrowser,
    tags: ['deep'],
  }, async () => {
    const { file, open, kill } = await prepare();
    const first = await open();
    const { page } = await stage.window(first);
    const saved = page.locator('.save-state');
    await page.locator('.inserter').getByRole('button', { name: 'Code' }).click();
    await page.keyboard.type('x = 1');
    await page.keyboard.press('Control+s');
    await expect.poll(() => saved.textContent()).toBe('Saved');
    first.program.stdin.end();
    await page.getByRole('alert').filter({ hasText: 'The notebook was closed' }).waitFor();
    expect(await saved.textContent()).toBe('Saved');
    await page.keyboard.type('23');
    expect(await saved.textContent()).toBe('Not saved');
    await page.getByRole('alert').filter({ hasText: 'is not in the file' }).waitFor();
    await exitOf(first.program);
    await page.close({ runBeforeUnload: true });
    const second = await open();
    const next = await page.context().newPage();
    await next.goto(second.url);
    await expect.poll(() => next.locator('.cm-content').first().textContent()).toBe('x = 123');
    await next.keyboard.press('Control+s');
    await expect.poll(() => next.locator('.save-state').textContent()).toBe('Saved');
    expect(await readFile(file, 'utf8')).toContain('x = 123');
    await kill(second);
  });

  it('and one that goes on: text of a cell that an agent deletes is offered after each reload, until it has a place', {
    ...drivesBrowser,
    tags: ['deep', 'P-707'],
  }, async () => {
    const file = join(await temporaryFolder(), 'analysis.ipynb');
    const host = await stage.realHost({ file, scenes: {} });
    const { page } = await stage.window(host);
    const offer = page.getByRole('button', { name: 'Put my text into a new cell' });
    const sources = () => host.session.document.cells.map(({ source }) => source);
    await page.locator('.inserter').getByRole('button', { name: 'Code' }).click();
    await page.keyboard.type('work');
    await expect.poll(sources).toEqual(['work']);
    await page.keyboard.insertText(' of hours');
    host.session.document.delete(host.session.document.cells[0]?.id ?? '', { by: { kind: 'agent', name: 'Claude' } });
    await offer.waitFor();
    for (const _ of [1, 2]) {
      await page.reload();
      await offer.waitFor();
    }
    await offer.click();
    await expect.poll(sources).toEqual(['work of hours']);
    await offer.waitFor({ state: 'detached' });
    await page.reload();
    await page.locator('.cm-content', { hasText: 'work of hours' }).waitFor();
    expect(await offer.count()).toBe(0);
  });

  it('sends another program at its port nothing but a random number', { ...drivesBrowser, tags: ['P-679'] }, async () => {
    const { open, kill } = await prepare();
    const first = await open();
    const { page } = await stage.window(first);
    const key = await page.evaluate(() => sessionStorage.getItem('notebridge-key'));
    await kill(first);
    const heard: string[] = [];
    const other = createServer((request, response) => {
      heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
      request.on('data', (chunk) => heard.push(String(chunk)));
      request.on('end', () => response.end(JSON.stringify({ nonce: 'n'.repeat(32), proof: 'p'.repeat(43) })));
    });
    await once(other.listen(Number(new URL(first.url).port), '127.0.0.1'), 'listening');
    await page.getByRole('alert').filter({ hasText: 'Another program answers' }).waitFor();
    other.closeAllConnections();
    other.close();
    expect(heard.filter((line) => line.includes('/viewer'))).toEqual([]);
    expect(heard.length).toBeGreaterThan(0);
    expect(key).toHaveLength(43);
    expect(heard.join('\n')).not.toContain(key);
  });
});
