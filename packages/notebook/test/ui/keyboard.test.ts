// @module-tag P-109

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';
import type { TestHost } from './support/host.js';

describe('the keyboard', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  async function open(
    ...sources: string[]
  ): Promise<{ host: TestHost; page: Page; faults: string[]; press: (...keys: string[]) => Promise<void> }> {
    const host = await stage.host({ cells: sources.map((source) => ({ source })) });
    const { page, faults } = await stage.window(host);
    await page.locator('.cell.selected').waitFor();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    return { host, page, faults, press };
  }

  const sourcesOf = (host: TestHost) => host.document.cells.map(({ source }) => source);
  const selected = (page: Page) =>
    page.locator('.cell').evaluateAll((cells) => cells.findIndex((cell) => cell.classList.contains('selected')));

  it('goes from cell to cell, into one and out again', drivesBrowser, async () => {
    const { page, press, host, faults } = await open('one', 'two', 'three');
    await press('j', 'ArrowDown');
    expect(await selected(page)).toBe(2);
    await press('k', 'Enter', 'Control+End');
    await page.keyboard.type('!j');
    await press('Escape', 'k');
    expect(await selected(page)).toBe(0);
    await expect.poll(() => sourcesOf(host)).toEqual(['one', 'two!j', 'three']);
    expect(faults).toEqual([]);
  });

  it('walks with the arrows from one editor into the next', { ...drivesBrowser, tags: ['deep'] }, async () => {
    const { page, press, host } = await open('one', 'two');
    await press('Enter', 'Control+End', 'ArrowDown');
    await page.keyboard.type('x');
    await press('ArrowUp');
    await page.keyboard.type('y');
    await expect.poll(() => sourcesOf(host)).toEqual(['oney', 'xtwo']);
  });

  it('runs: and goes on, and stays, and adds a cell', { ...drivesBrowser, tags: ['deep'] }, async () => {
    const { page, press, host } = await open('print a', 'print b');
    await press('Shift+Enter');
    expect(await selected(page)).toBe(1);
    await press('Control+Enter');
    expect(await selected(page)).toBe(1);
    await expect.poll(() => host.document.cells.map(({ executionCount }) => executionCount)).toEqual([1, 2]);
    await press('Enter', 'Alt+Enter');
    await page.locator('.cell').nth(2).locator('.cm-focused').waitFor();
    await page.keyboard.type('print c');
    await press('Shift+Enter');
    await page.locator('.cell').nth(3).locator('.cm-focused').waitFor();
    await page.locator('.stream-output', { hasText: 'c' }).waitFor();
    expect(sourcesOf(host)).toEqual(['print a', 'print b', 'print c', '']);
  });

  it('runs what was typed, not what the host had', { ...drivesBrowser, tags: ['deep'] }, async () => {
    const { page, press, host } = await open('');
    await press('Enter');
    await page.keyboard.type('print typed');
    await press('Control+Enter');
    await page.locator('.stream-output', { hasText: 'typed' }).waitFor();
    expect(sourcesOf(host)).toEqual(['print typed']);
  });

  it('inserts above and below, deletes with D D, and puts back with Z', { ...drivesBrowser, tags: ['deep'] }, async () => {
    const { page, press, host } = await open('one');
    await press('b');
    await expect.poll(() => selected(page)).toBe(1);
    await press('k', 'a');
    await expect.poll(() => host.document.cells.length).toBe(3);
    await expect.poll(() => selected(page)).toBe(0);
    expect(sourcesOf(host)).toEqual(['', 'one', '']);
    await press('j', 'd', 'd');
    await expect.poll(() => sourcesOf(host)).toEqual(['', '']);
    await press('z');
    await expect.poll(() => sourcesOf(host)).toEqual(['', 'one', '']);
    await expect.poll(() => selected(page)).toBe(1);
    await press('d', 'j', 'd');
    expect(host.document.cells.length).toBe(3);
  });

  it('changes the type, cuts, copies and pastes with outputs', { ...drivesBrowser, tags: ['deep'] }, async () => {
    const { page, press, host } = await open('print hello', 'two');
    await press('Control+Enter');
    await page.locator('.stream-output').waitFor();
    await press('c', 'j', 'v');
    await expect.poll(() => sourcesOf(host)).toEqual(['print hello', 'two', 'print hello']);
    expect(host.document.cells[2]?.outputs).toEqual(host.document.cells[0]?.outputs);
    await expect.poll(() => selected(page)).toBe(2);
    await press('x');
    await expect.poll(() => host.document.cells.length).toBe(2);
    // The window hears of it a moment later; a key before that would be for a cell that is gone.
    await expect.poll(() => page.locator('.cell').count()).toBe(2);
    await expect.poll(() => selected(page)).toBe(1);
    await press('m');
    await expect.poll(() => host.document.cells[1]?.type).toBe('markdown');
    await press('r');
    await expect.poll(() => host.document.cells[1]?.type).toBe('raw');
    await press('y');
    await expect.poll(() => host.document.cells[1]?.type).toBe('code');
    await press('Control+Shift+ArrowUp');
    await expect.poll(() => sourcesOf(host)).toEqual(['two', 'print hello']);
    await expect
      .poll(() =>
        page
          .locator('.cell')
          .first()
          .evaluate((cell) => cell === document.activeElement),
      )
      .toBe(true);
  });

  it('interrupts with I I, restarts with 0 0 only when confirmed, saves, and helps', { ...drivesBrowser, tags: ['deep'] }, async () => {
    const { page, press, host, faults } = await open('wait');
    await press('Control+Enter');
    await page.locator('.cell.running').waitFor();
    await press('i', 'i');
    await expect.poll(() => host.session.running).toBeUndefined();
    await press('0', '0');
    await page.getByRole('alertdialog', { name: 'Restart the kernel?' }).getByRole('button', { name: 'Cancel' }).click();
    expect(host.asked.some((action) => action.do === 'restart')).toBe(false);
    await press('0', '0', 'Enter');
    await expect.poll(() => host.asked.at(-1)?.do).toBe('restart');
    await press('Control+s');
    await expect.poll(() => host.asked.at(-1)?.do).toBe('save');
    await press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await press('d', 'd', 'Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(host.document.cells.length).toBe(1);
    expect(faults).toEqual([]);
  });

  it('reaches every tool with Tab, from the cell onwards', { ...drivesBrowser, tags: ['deep'] }, async () => {
    const { page, press } = await open('one');
    await page.locator('.cell').focus();
    const names: string[] = [];
    for (let step = 0; step < 8; step++) {
      await press('Tab');
      names.push(await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? ''));
    }
    expect(names).toEqual(expect.arrayContaining(['Run cell 1', 'Type of the cell', 'Move up', 'Delete (D D)', 'Add a code cell here']));
  });
});
