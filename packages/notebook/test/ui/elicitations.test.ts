// @module-tag deep
// @module-tag P-376

import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';

const unhurried = { ...drivesBrowser, timeout: 120_000 };

const form = {
  message: '[github] Which repository?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', description: 'Of the repository.', minLength: 2 },
      mail: { type: 'string', title: 'E-mail', format: 'email' },
      stars: { type: 'integer', title: 'Stars', minimum: 0, maximum: 5, default: 3 },
      open: { type: 'boolean', title: 'Public', default: true },
      plan: { type: 'string', title: 'Plan', enum: ['f', 'p'], enumNames: ['Free', 'Paid'] },
      langs: { type: 'array', title: 'Languages', items: { type: 'string', enum: ['py', 'ts'] } },
    },
    required: ['name', 'plan'],
  },
};
const url = `https://login.example/start?state=${'s'.repeat(200)}&next=%2F#end`;
const folder = process.env.NOTEBOOK_SHOTS;
const asks = `The server “github”, which the code calls, asks`;

describe('what a server asks in a call of the code that a person runs', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  const open = async (...questions: object[]) => {
    const host = await stage.host({ cells: questions.map((question) => ({ source: `elicit ${JSON.stringify(question)}` })) });
    const window = await stage.window(host);
    await window.page.keyboard.press('Control+Enter');
    await window.page.getByRole('form', { name: asks }).waitFor();
    const answer = async (): Promise<unknown> => {
      await window.page.locator('.question').waitFor({ state: 'detached' });
      // The form goes when it is answered, before the code has gone on.
      return JSON.parse((await window.page.locator('.stream-output').first().textContent()) ?? 'null');
    };
    return { host, ...window, answer };
  };

  it('is a form with the name of the server, which is sent when it is filled in as asked', unhurried, async () => {
    const { page, faults, answer } = await open(form);
    const question = page.locator('.question');
    expect(await question.locator('.question-asker').textContent()).toBe('github, a server that the code calls, asks:');
    expect(await question.locator('.question-message').textContent()).toBe('Which repository?');
    expect(await question.textContent()).toContain('Never enter a password');
    // Nothing that would hide what is typed.
    expect(await question.locator('input[type=password]').count()).toBe(0);
    await page.getByLabel('Name').fill('notebridge');
    // The plan is missing.
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await question.count()).toBe(1);
    await page.getByLabel('Plan').selectOption('Paid');
    await page.getByLabel('E-mail').fill('no address');
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await question.count()).toBe(1);
    await page.getByLabel('E-mail').fill('ann@example.org');
    await page.getByLabel('ts', { exact: true }).check();
    await page.getByLabel('Public').uncheck();
    await page.keyboard.press('Enter');
    expect(await answer()).toEqual({
      action: 'accept',
      content: { name: 'notebridge', mail: 'ann@example.org', stars: 3, open: false, plan: 'p', langs: ['ts'] },
    });
    expect(faults).toEqual([]);
  });

  it('is declined by a button, cancelled by Escape, and stands there again after a reload', unhurried, async () => {
    const { page, answer } = await open(form);
    await page.reload();
    await page.getByRole('button', { name: 'Decline' }).click();
    expect(await answer()).toEqual({ action: 'decline' });
    const other = await open(form);
    await other.page.getByLabel('Name').focus();
    await other.page.keyboard.press('Escape');
    expect(await other.answer()).toEqual({ action: 'cancel' });
  });

  it('is a URL shown whole, which opens by a click alone', unhurried, async () => {
    const { page, answer } = await open({ mode: 'url', url, message: '[github] Log in.' });
    expect(await page.locator('.question-url').textContent()).toBe(url);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await page.locator('.question').evaluate((form) => form.scrollWidth <= form.clientWidth)).toBe(true);
    const link = page.getByRole('link', { name: 'Open the page' });
    expect(await link.getAttribute('href')).toBe(url);
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    expect(page.context().pages()).toHaveLength(1);
    const [opened] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    expect(await answer()).toEqual({ action: 'accept' });
    await opened.close();
  });

  it('ends with its cell, and is nobody’s that no form can show, or that would be a secret', unhurried, async () => {
    const { host, page, answer } = await open(form);
    await host.session.interrupt({ by: { kind: 'person', name: 'Somebody' } });
    expect(await answer()).toEqual({ action: 'cancel' });
    for (const property of [{ type: 'object' }, { type: 'string', format: 'password' }, { type: 'string', writeOnly: true }]) {
      const requestedSchema = { type: 'object', properties: { it: property } };
      const source = `elicit ${JSON.stringify({ message: 'What?', requestedSchema })}`;
      const { id } = host.document.insert(1, { type: 'code', source }, { by: { kind: 'person', name: 'Somebody' } });
      const { outputs } = await host.session.run(id, { by: { kind: 'person', name: 'Somebody' } });
      expect(outputs).toMatchObject([{ text: expect.stringContaining('"cancel"') }]);
    }
    expect(await page.locator('.question').count()).toBe(0);
  });

  it('shows a name or text as text, whatever it is', unhurried, async () => {
    const properties = { ['__proto__']: { type: 'string', title: '<b>bold</b>\u202e' } };
    const requestedSchema = { type: 'object', properties: JSON.parse(JSON.stringify(properties)), required: [] };
    const { page, answer } = await open({ message: '<img src=x onerror=alert(1)>', requestedSchema });
    expect(await page.locator('.question img, .question-title b').count()).toBe(0);
    expect(await page.locator('.question-message').textContent()).toBe('<img src=x onerror=alert(1)>');
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await answer()).toEqual({ action: 'accept', content: {} });
  });

  for (const width of [360, 1024])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`looks right: ${width} ${colorScheme}`, unhurried, async ({ skip }) => {
        skip(!folder, 'pictures are for people to look at: name a folder in NOTEBOOK_SHOTS');
        const { page } = await open(form);
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await page.locator('.question').scrollIntoViewIfNeeded();
        await page.screenshot({ path: join(folder ?? '', `question-${width}-${colorScheme}.png`) });
        await page.keyboard.press('Escape');
      });
});
