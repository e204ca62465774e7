// @module-tag deep
// @module-tag P-198

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { agentName, nameOf } from '../../src/ui/names.js';
import { isMostlyUnseen, visible } from '../../src/ui/visible.js';
import { Stage } from './support/browser.js';

const quoted = (name: string) => `agent “\u2068${name}\u2069”`;

describe('the name of an agent', () => {
  it.each(['Claude', 'Claude Code', 'gpt-5.1', 'An agent', 'Cursor 2.0 (beta)'])('%s is shown as it is', (name) => {
    expect(agentName(name)).toBe(name);
  });

  it.each([
    ['You', quoted('You')],
    ['No agent connected', quoted('No agent connected')],
    ['The notebook', quoted('The notebook')],
    ['Y\u043eu', quoted('Y\u043eu')],
    ['', 'agent without a name'],
    [' \t', 'agent without a name'],
    ['\u202eedualC', quoted('[U+202E]edualC')],
    ['Cla\u200bude', quoted('Cla[U+200B]ude')],
    ['\u3164', quoted('[U+3164]')],
    ['\u2069”You', quoted("[U+2069]'You")],
    ['a\nb', quoted('a⏎b')],
    ['x'.repeat(200), quoted(`${'x'.repeat(40)}…`)],
    ['קלוד', quoted('קלוד')],
    ['Claude: saved.', quoted('Claude: saved.')],
  ])('%j is shown as %j', (name, shown) => {
    expect(agentName(name)).toBe(shown);
  });

  it('is not looked at where it is a person', () => {
    expect(nameOf({ kind: 'person', name: 'You' })).toBe('You');
    expect(nameOf({ kind: 'agent', name: 'You' })).toBe(quoted('You'));
  });
});

describe('what cannot be seen', () => {
  it.each([
    ['a = 1\n\tb', 'a = 1\n\tb'],
    ['naïve 日本語 עברית 👍🏽 ❤️ 👩‍👩‍👧 #️⃣', 'naïve 日本語 עברית 👍🏽 ❤️ 👩‍👩‍👧 #️⃣'],
    ['a\u202eb\u2066', 'a[U+202E]b[U+2066]'],
    ['a\u200d\ufe0fb', 'a[U+200D][U+FE0F]b'],
    ['\u{e0041}\u00ad\u0000\ud800', '[U+E0041][U+00AD][U+0000][U+D800]'],
  ])('%j becomes %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('is told when it is most of a text', () => {
    expect(isMostlyUnseen('\u200b'.repeat(2000))).toBe(true);
    expect(isMostlyUnseen('x = 1\n'.repeat(100_000))).toBe(false);
  });
});

describe('in the window', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('names say what they are, in the bar, the mark of a cell, the hint and the changes', drivesBrowser, async () => {
    const name = 'You\u202e';
    const host = await stage.host({
      title: 'analysis\u202e.ipynb',
      cells: [{ source: 'a' }],
      agents: ['You', 'No agent connected', ''].map((each, index) => ({ id: String(index), name: each })),
    });
    const { page, faults } = await stage.window(host);
    host.document.update('cell-0', 'b', { by: { kind: 'agent', name } });
    const shown = quoted('You[U+202E]');
    // What the agent did is on its way to the window.
    await expect.poll(() => page.locator('.badge').first().innerText()).toBe(`${shown} edited this cell`);
    await expect.poll(() => page.locator('.hint-text').innerText()).toBe(`${shown} is working in cell 1`);
    await expect
      .poll(() => page.locator('.agent-name').allInnerTexts())
      .toEqual([
        // Of several, what they are stands in the words of each.
        quoted('You'),
        quoted('No agent connected'),
        'agent without a name',
      ]);
    await page.getByRole('button', { name: /^Changes/ }).click();
    expect(await page.locator('.change strong').first().innerText()).toBe(shown);
    expect(await page.locator('.title').innerText()).toBe('analysis[U+202E].ipynb');
    expect(faults).toEqual([]);
  });

  it('code that hides what it does is seen through, asleep and awake, and in the changes', drivesBrowser, async () => {
    const source = 'if role != "user\u202e \u2066# admins only\u2069 \u2066":';
    const host = await stage.host({ cells: [{ source }, { source: '' }] });
    const { page, faults } = await stage.window(host);
    const marks = () => page.locator('.cell').first().locator('.unseen').allInnerTexts();
    const expected = ['U+202E', 'U+2066', 'U+2069', 'U+2066'];
    await page.locator('.cell').first().locator('.cm-content .unseen').first().waitFor();
    await expect.poll(marks).toEqual(expected);
    host.document.update('cell-1', source, { by: { kind: 'agent', name: 'Claude' } });
    await page.getByRole('button', { name: /^Changes/ }).click();
    await expect.poll(() => page.locator('.difference .unseen').allInnerTexts()).toEqual(expected);
    expect(faults).toEqual([]);
  });
});
