// @module-tag deep

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import type { Output } from '../../src/model/output.js';
import { Stage } from './support/browser.js';

const unhurried = { ...drivesBrowser, timeout: 120_000 };
const dashes = '-'.repeat(75);
const sixteen = [...Array(16).keys()];
const code = (base: number, index: number) => (index < 8 ? base + index : base + 52 + index);

describe('what can be read', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('the colours of terminals on their grounds, marked parts of tracebacks too, in both themes', {
    ...unhurried,
    tags: ['P-258'],
  }, async () => {
    const pairs = sixteen.flatMap((fg) => sixteen.filter((bg) => bg !== fg).map((bg) => `\x1b[${code(30, fg)};${code(40, bg)}mx\x1b[0m`));
    const plain = sixteen.map((fg) => `\x1b[${code(30, fg)}mplain\x1b[0m`);
    const extended = ['38;5;28', '38;5;18', '38;5;226', '38;2;120;80;200', '38;5;241', '48;5;226', '48;2;0;0;90', '30;43'];
    const texts = [...plain, ...pairs, ...extended.map((codes) => `\x1b[${codes}mextended\x1b[0m`)].join(' ');
    const outputs: Output[] = [
      { output_type: 'stream', name: 'stdout', text: texts },
      { output_type: 'error', ename: 'KeyError', evalue: 'x', traceback: [`\x1b[31m${dashes}\x1b[39m`, texts] },
    ];
    const host = await stage.host({ cells: [{ source: 'x', outputs }] });
    const { page, faults } = await stage.window(host, { colorScheme: 'light' });
    await page.locator('.error-output').waitFor();
    // The box says where an error begins.
    expect(await page.locator('.error-output').textContent()).not.toContain('---');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(faintParts)).toEqual([]);
    }
    expect(faults).toEqual([]);
  });

  it('numbers of a table, those of equations, and a number of matches, in a narrow window', { ...unhurried, tags: ['deep'] }, async () => {
    const table = '| a city with a long name that goes on | mean | wet days |\n|---|---:|:---:|\n| a city with a long name | 6.51 | 239 |';
    const latex = '\\begin{align} a &= b \\\\ c &= d \\end{align}';
    const outputs: Output[] = [{ output_type: 'display_data', data: { 'text/latex': latex }, metadata: {} }];
    const host = await stage.host({
      cells: [
        { type: 'markdown', source: table },
        { source: 'x', outputs },
      ],
    });
    const { page, faults } = await stage.window(host, { viewport: { width: 360, height: 800 } });
    const lines = (selector: string) =>
      page.locator(selector).evaluateAll((parts) =>
        parts.map((part) => {
          const range = document.createRange();
          range.selectNodeContents(part);
          return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
        }),
      );
    await page.locator('.prose td').first().waitFor();
    expect(await lines('.prose :is(th, td):nth-child(2)')).toEqual([1, 1]);
    // Numbers of equations are made by counters, which a box of its own begins anew.
    await page.locator('.eqn-num').nth(1).waitFor({ state: 'attached' });
    const counted = await page
      .locator('.eqn-num')
      .evaluateAll((parts) =>
        parts.map((part) => part.closest('.prose-body') !== null && getComputedStyle(part, '::before').counterIncrement),
      );
    expect(counted).toEqual(['katexEqnNo 1', 'katexEqnNo 1']);
    expect(await page.locator('.latex-output .prose-body').evaluate((body) => getComputedStyle(body).counterReset)).toMatch(/katexEqnNo 0/);
    await page.keyboard.press('Control+f');
    await page.keyboard.type('a');
    await expect.poll(() => page.locator('.find-count').textContent()).toMatch(/found/);
    expect(await lines('.find-count')).toEqual([1]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    expect(faults).toEqual([]);
  });

  it('the whole line of a cell, under whose end no tool lies', { ...unhurried, tags: ['deep'] }, async () => {
    const host = await stage.host({ cells: [{ source: 'x = 1' }, { source: `y = ${'1 + '.repeat(9)}1` }] });
    const { page } = await stage.window(host, { viewport: { width: 360, height: 800 } });
    await page.locator('.cell.selected').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.locator('.cell').nth(1).locator('.cell-tools').waitFor();
    const line = page.locator('.cell').nth(1).locator('.cm-line').first();
    const box = await line.boundingBox();
    await page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) - 4, (box?.y ?? 0) + 8);
    await page.locator('.cell').nth(1).and(page.locator('.editing')).waitFor();
    expect(await page.locator('.menu').count()).toBe(0);
  });

  it('one note when the notebook has ended, and none that asks for what nobody can do any more', {
    ...unhurried,
    tags: ['deep'],
  }, async () => {
    const host = await stage.realHost({ file: undefined, scenes: {} });
    const { page } = await stage.window(host);
    await host.session.kernel.close();
    await page.locator('.banner', { hasText: 'kernel has died' }).waitFor();
    await host.close();
    await page.locator('.banner', { hasText: 'notebook was closed' }).waitFor();
    expect(await page.locator('.banner').count()).toBe(1);
  });
});

/** Runs in the page: runs of coloured text whose contrast with what lies behind them is below 4.5, as WCAG counts it. */
function faintParts(): string[] {
  const canvas = document.createElement('canvas');
  canvas.width = 1;
  canvas.height = 1;
  const brush = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
  const luminance = () => {
    const [red = 0, green = 0, blue = 0] = [...brush.getImageData(0, 0, 1, 1).data].map((part) =>
      part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const paint = (colour: string) => {
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
  };
  const contrastOf = (element: Element) => {
    const behind: string[] = [];
    for (let at: Element | null = element; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
    for (const colour of behind) paint(colour);
    const ground = luminance();
    paint(getComputedStyle(element).color);
    const text = luminance();
    return (Math.max(ground, text) + 0.05) / (Math.min(ground, text) + 0.05);
  };
  return [...document.querySelectorAll('.output span')]
    .map((span) => ({ span, contrast: contrastOf(span) }))
    .filter(({ contrast }) => contrast < 4.5)
    .map(({ span, contrast }) => `${span.className} ${span.getAttribute('style') ?? ''} ${contrast.toFixed(2)}`);
}
