// @module-tag deep

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';

const unhurried = { ...drivesBrowser, timeout: 120_000 };

describe('questions of the code', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  const open = async (...sources: string[]) => {
    const host = await stage.host({ cells: sources.map((source) => ({ source })) });
    return { host, ...(await stage.window(host)) };
  };

  it('are asked below their cell, one after the other, and the keyboard goes there and back', unhurried, async () => {
    const { page, faults } = await open('ask Your name?\nsecret Your word?');
    await page.keyboard.press('Control+Enter');
    await page.getByLabel('Your name?').waitFor();
    await page.keyboard.type('dd Ann');
    await page.keyboard.press('Enter');
    const field = page.getByLabel('Your word?');
    await field.waitFor();
    expect(await field.getAttribute('type')).toBe('password');
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.type('open sesame');
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.locator('.stream-output', { hasText: 'dd Ann' }).waitFor();
    await page.locator('.stream-output', { hasText: 'open sesame' }).waitFor();
    expect(await page.locator('.question').count()).toBe(0);
    await expect.poll(() => page.locator('.cell').evaluate((cell) => cell === document.activeElement)).toBe(true);
    expect(faults).toEqual([]);
  });

  it('are refused with Escape, and stand there again after a reload', unhurried, async () => {
    const { host, page } = await open('ask Your name?\nprint not reached');
    await page.keyboard.press('Control+Enter');
    await page.getByLabel('Your name?').waitFor();
    await page.reload();
    await page.getByLabel('Your name?').click();
    await page.keyboard.press('Escape');
    await page.locator('.error-output', { hasText: 'refused' }).waitFor();
    expect(host.session.questions.open).toEqual([]);
    expect(await page.locator('.question').count()).toBe(0);
  });

  it('take the keyboard from the empty cell that Shift-Enter has led into', unhurried, async () => {
    const { host, page, faults } = await open('ask Your name?\nask Your town?');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Shift+Enter');
    await page.locator('label', { hasText: 'Your name?' }).locator('.question-field:focus').waitFor();
    await page.keyboard.type('Ann');
    await page.keyboard.press('Enter');
    await page.locator('label', { hasText: 'Your town?' }).locator('.question-field:focus').waitFor();
    await page.keyboard.type('Lima');
    await page.keyboard.press('Enter');
    await page.locator('.stream-output', { hasText: 'Lima' }).waitFor();
    // And it goes back there.
    await page.locator('.cell').nth(1).locator('.cm-content:focus').waitFor();
    await page.keyboard.type('x = 1');
    await expect.poll(() => host.document.cells[1]?.source).toBe('x = 1');
    expect(faults).toEqual([]);
  });

  it('do not take the keyboard from somebody who writes, nor for what an agent runs', unhurried, async () => {
    const { host, page } = await open('ask Your name?', 'x');
    await page.locator('.cm-content').nth(1).click();
    await page.keyboard.press('End');
    host.session.run('cell-0', { by: { kind: 'person', name: 'Somebody' } }).catch(() => {});
    await page.getByLabel('Your name?').waitFor();
    await page.keyboard.type('yz');
    await expect.poll(() => host.document.cells[1]?.source).toBe('xyz');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Refuse' }).click();
    await expect.poll(() => host.session.running).toBeUndefined();
    host.session.run('cell-0', { by: { kind: 'agent', name: 'Claude' } }).catch(() => {});
    await page.getByRole('form', { name: 'The code that Claude runs asks' }).waitFor();
    expect(await page.locator('.question-field').evaluate((element) => element === document.activeElement)).toBe(false);
    await page.locator('[role=status]', { hasText: 'Cell 1 asks: Your name?' }).waitFor({ state: 'attached' });
  });
});
