// @module-tag deep
// @module-tag P-233

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';
import { hostileFormulas } from './support/hostile-formulas.js';
import { rich } from './support/hostile-outputs.js';

describe('formulas', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('are laid out in texts and outputs, and loaded with the first of them', drivesBrowser, async () => {
    const host = await stage.host({ cells: [{ type: 'markdown', source: '# None' }, { source: 'show' }], scenes: { show: () => outputs } });
    const { page, faults } = await stage.window(host);
    await page.getByRole('heading', { name: 'None' }).waitFor();
    expect(host.fetched.filter((path) => /katex/i.test(path))).toEqual([]);
    host.document.update('cell-0', '# Some\n\nLet $x_1$ be\n\n$$\\sqrt{\\frac{1}{2}}$$', { by: { kind: 'person', name: 'You' } });
    await page.locator('.prose .katex').nth(1).waitFor();
    expect(await texOf(page, '.prose')).toEqual(['x_1', '\\sqrt{\\frac{1}{2}}']);
    expect(host.fetched).toContain('/katex.css');
    await page.getByRole('button', { name: 'Run cell 2' }).click();
    await page.locator('.output .katex').nth(2).waitFor();
    expect(await texOf(page, '.output')).toEqual(['\\displaystyle \\pi', 'e^{i\\pi}', '\\begin{array}{rcl}a &=& b\\end{array}']);
    await page.evaluate(() => document.fonts.ready);
    expect(host.fetched.some((path) => /KaTeX_Main-Regular\.woff2$/.test(path))).toBe(true);
    // Laid out by its own styles: a fraction stands higher than a line.
    expect((await page.locator('.block-formula').first().boundingBox())?.height ?? 0).toBeGreaterThan(30);
    expect(faults).toEqual([]);
  });

  it('hostile formulas act, load and cover nothing, and leave the text beside them', { ...drivesBrowser, timeout: 120_000 }, async () => {
    const cells = hostileFormulas().map(([name, tex]) => ({ type: 'markdown' as const, source: `begin ${name}\n\n${tex}\n\nthe end` }));
    const host = await stage.host({
      cells: [...cells, { source: '', outputs: hostileFormulas().map(([, tex]) => rich({ 'text/latex': tex })) }],
    });
    const { page, faults } = await stage.window(host);
    for (const [index, [name]] of hostileFormulas().entries()) {
      const cell = page.locator('.cell').nth(index);
      await cell.scrollIntoViewIfNeeded();
      // Many are shown piece by piece, like every long text.
      await cell.locator('.prose', { hasText: /the end|Show more/ }).waitFor();
      expect(await cell.locator('.prose').evaluate(outsideOf), name).toEqual([]);
    }
    await page
      .locator('.output .prose-body')
      .nth(hostileFormulas().length - 1)
      .waitFor();
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    const acting = await page.evaluate(() =>
      [...document.querySelectorAll('.prose :is(a[href^=javascript], [id], [onclick], img, script, iframe, [src])')].map(
        (each) => each.outerHTML,
      ),
    );
    expect(acting).toEqual([]);
    expect(
      host.fetched.filter((path) => !/^\/(?:(?:app|chunk|markdown|katex)[\w.-]*|KaTeX[\w-]*\.woff2|icon\.svg|enter)?$/.test(path)),
    ).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('the markup of a text makes no formulas, and has no class of theirs', drivesBrowser, async () => {
    const source =
      '<span nb-part="0">a</span> <span nb-part="-0" class="katex">b</span> <math><mi>c</mi></math> $x$ $x$ <i nb-part="x-0">d</i>';
    const host = await stage.host({ cells: [{ type: 'markdown', source }] });
    const { page, faults } = await stage.window(host);
    await page.locator('.prose .katex').nth(1).waitFor();
    expect(await page.locator('.prose .katex').count()).toBe(2);
    expect(await page.locator('.prose [nb-part]').count()).toBe(0);
    expect(faults).toEqual([]);
  });
});

const outputs = [
  rich({ 'text/latex': '$\\displaystyle \\pi$', 'text/plain': 'pi' }),
  rich({ 'text/markdown': 'so $e^{i\\pi}$' }),
  rich({ 'text/latex': '\\begin{eqnarray}a &=& b\\end{eqnarray}' }),
];

function texOf(page: Page, where: string): Promise<string[]> {
  return page.locator(`${where} annotation`).evaluateAll((all) => all.map(({ textContent }) => textContent?.trim() ?? ''));
}

/** What of a text is on top outside of its box. */
function outsideOf(prose: Element): string[] {
  const { left, top, right, bottom } = prose.getBoundingClientRect();
  const points = [-20, -3].flatMap((away) => [
    [left + away, (top + bottom) / 2],
    [right - away, (top + bottom) / 2],
    [(left + right) / 2, top + away],
    [(left + right) / 2, bottom - away],
  ]);
  return points.flatMap(([x = 0, y = 0]) => {
    const found = document.elementFromPoint(x, y);
    return found && prose.contains(found) ? [`${found.className} at ${x}, ${y}`] : [];
  });
}
