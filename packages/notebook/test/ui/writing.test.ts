// @module-tag deep

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';

const unhurried = { ...drivesBrowser, timeout: 120_000 };

describe('writing code', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  const open = async (...sources: string[]) => {
    const host = await stage.host({ cells: sources.map((source) => ({ source })) });
    const window = await stage.window(host);
    await window.page.locator('.cm-content').first().click();
    await window.page.keyboard.press('Control+End');
    return { host, ...window };
  };
  /** True if a person sees all of it: nothing lies over it, and nothing cuts it off. */
  const isSeen = (page: Page, selector: string) =>
    page.locator(selector).evaluate((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const isOnTop = (x: number, y: number) => element.contains(document.elementFromPoint(x, y));
      return bottom - top > 15 && isOnTop(left + 4, top + 4) && isOnTop(right - 4, bottom - 4);
    });

  it('Tab completes by the kernel, in a list that nothing cuts off', unhurried, async () => {
    const { host, page, faults } = await open('x = 1', 'p');
    await page.locator('.cm-content').nth(1).click();
    await page.keyboard.press('End');
    await page.keyboard.press('Tab');
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'print' }).waitFor();
    expect(host.asked.at(-1)).toEqual({ do: 'complete', code: 'p', position: 1 });
    expect(await isSeen(page, '.cm-tooltip-autocomplete')).toBe(true);
    await page.locator('.cm-tooltip-autocomplete li').click();
    await expect.poll(() => host.document.cells[1]?.source).toBe('print');
    await page.keyboard.type(' f');
    await page.keyboard.press('Control+Space');
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'fail' }).waitFor();
    // A list that has just come up does not take a key that was meant for something else.
    await page.waitForFunction(() => document.querySelector('.cm-tooltip-autocomplete li[aria-selected]'));
    await expect
      .poll(async () => {
        await page.keyboard.press('Tab');
        return host.document.cells[1]?.source;
      })
      .toContain('print fail');
    expect(faults).toEqual([]);
  });

  it('Shift-Tab shows what the kernel knows; Escape closes it, once more shows all and leads into it', unhurried, async () => {
    const { host, page, faults } = await open('print');
    const box = page.getByRole('dialog', { name: 'Documentation' });
    await page.keyboard.press('Shift+Tab');
    await box.getByText('print TEXT: writes it').waitFor();
    expect(await isSeen(page, '.documentation')).toBe(true);
    await page.keyboard.press('Escape');
    expect(await box.count()).toBe(0);
    expect(await page.locator('.cm-focused').count()).toBe(1);
    await page.keyboard.press('Shift+Tab');
    await box.waitFor();
    expect(await box.getByText('Source:').count()).toBe(0);
    await page.keyboard.press('Shift+Tab');
    expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
    await box.getByText('Source: a word of this kernel').waitFor();
    expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(host.asked.flatMap((action) => (action.do === 'inspect' ? [action.detail] : []))).toEqual([0, 0, 1]);
    await page.keyboard.press('Escape');
    await page.locator('.cm-focused').waitFor();
    await page.keyboard.type('\n    nothing');
    await page.keyboard.press('Shift+Tab');
    await page.getByText('knows nothing of what is at the cursor').waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+Tab');
    await expect.poll(() => host.document.cells[0]?.source).toBe('print\nnothing');
    expect(faults).toEqual([]);
  });

  it('three quotes stay three, and a docstring ends where its end is typed', unhurried, async () => {
    const { host, page } = await open('');
    await page.keyboard.type('"""Some words.\n\n\'more\'\n"""\nx = "y" + \'\'\'z\'\'\'');
    await expect.poll(() => host.document.cells[0]?.source).toBe('"""Some words.\n\n\'more\'\n"""\nx = "y" + \'\'\'z\'\'\'');
  });

  it('L shows line numbers in a cell, Shift+L in all', unhurried, async () => {
    const { page } = await open('a\nb', 'c');
    const numbered = () =>
      page.locator('.cell').evaluateAll((cells) => cells.map((cell) => cell.querySelectorAll('.cm-lineNumbers').length));
    await page.keyboard.press('Escape');
    await page.keyboard.press('l');
    expect(await numbered()).toEqual([1, 0]);
    await page.keyboard.press('Shift+L');
    expect(await numbered()).toEqual([1, 1]);
    await page.reload();
    await expect.poll(numbered).toEqual([1, 1]);
    await page.getByRole('button', { name: 'Notebook menu' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Line numbers' }).click();
    await expect.poll(numbered).toEqual([0, 0]);
  });
});
