// @module-tag P-196

import { describe, expect, it } from 'vitest';
import { coreAndDeep } from '../../../notebridge/test/support/core-and-deep.js';
import { HtmlBounder, pieceLimits } from '../../src/ui/outputs/bound-html.js';
import { boundSvg } from '../../src/ui/outputs/bound-svg.js';
import { pixelsOf } from '../../src/ui/outputs/image-size.js';
import { safeDeclarations, safeSheet } from '../../src/ui/outputs/safe-css.js';
import { hostileDrawings } from './support/hostile-drawings.js';
import { cssBombs, hostileMarkup } from './support/hostile-markup.js';
import { pixel } from './support/hostile-outputs.js';

/** The greatest depth of tags in markup that is well nested, which is what is to be shown. */
function depthOf(html: string): number {
  let depth = 0;
  let greatest = 0;
  for (const [, slash, name = '', closed] of html.matchAll(/<(\/?)([a-zA-Z]+)[^>]*?(\/?)>/g)) {
    if (closed || /^(?:br|hr|img|col|wbr)$/.test(name)) continue;
    depth += slash ? -1 : 1;
    greatest = Math.max(greatest, depth);
    if (depth < 0) return Infinity;
  }
  return depth === 0 ? greatest : Infinity;
}

describe('HTML that reaches a browser', () => {
  for (const { cells, tags } of coreAndDeep(hostileMarkup('alert(1)'), (_, index) => index % 3 === 0))
    it.each(cells)('is well nested and within its bounds, piece by piece: %s', { tags }, (_, html) => {
      const bounder = new HtmlBounder(html, { isApart: true });
      for (let pieces = 0; bounder.hasMore && pieces < 5; pieces++) {
        const { html: written } = bounder.next();
        // A cell that spans others counts as many, and one token may go beyond the limit.
        expect(written.match(/<[a-z]/g)?.length ?? 0).toBeLessThan(2 * pieceLimits.maxNodes);
        expect(written.replace(/src="[^"]*"/g, '').length).toBeLessThan(12 * pieceLimits.maxCharacters);
        expect(depthOf(written)).toBeLessThan(70);
        expect(written).not.toMatch(
          /<(?:script|style|iframe|form|input|button|svg|math|object|embed|template|dialog|frameset|main|nav)\b/i,
        );
        expect(written.replace(/"[^"]*"/g, '""')).not.toMatch(
          /<[^>]* (?:on\w+|style|role|aria-\w+|name|popover\w*|autofocus|accesskey|tabindex|contenteditable|slot)=/i,
        );
      }
    });

  it('finds the end of a style behind letters that are two when they are small', () => {
    const letters = 'İ'.repeat(12);
    const { html, sheets } = new HtmlBounder(`${letters}<STYLE>b { color: red }</Style><b>one</b>`, { isApart: true }).next();
    expect(sheets).toEqual(['b { color: red }']);
    expect(html).toBe(`${letters}<b>one</b>`);
  });

  it('loses nothing of what is common, and goes on where it was', () => {
    const rows = Array.from({ length: 5000 }, (_, at) => `<tr><td title="a&amp;b">${at}<td>x &lt; y`).join('');
    const bounder = new HtmlBounder(`<table class="t" id="T">${rows}</table><p>end`, { isApart: true });
    const pieces: string[] = [];
    while (bounder.hasMore) pieces.push(bounder.next().html);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every((piece) => piece.startsWith('<table class="t" id="T">') || piece.startsWith('<p>'))).toBe(true);
    const whole = pieces.join('');
    expect(Array.from({ length: 5000 }, (_, at) => whole.includes(`>${at}</td>`)).every(Boolean)).toBe(true);
    expect(pieces.at(-1)).toMatch(/<p>end<\/p>$/);
  });

  it('the page has no class and no name from HTML that could be taken for ours', () => {
    const bounder = new HtmlBounder('<div class="drawer" id="app" data-x="y" name="z">x</div>', { isApart: false });
    expect(bounder.next().html).toBe('<div>x</div>');
  });
});

describe('CSS that reaches a browser', () => {
  it.each(cssBombs())('is flat, short and loads nothing: %s', (_, css) => {
    const safe = safeSheet(css);
    const rules = safe.split('\n');
    expect(rules.length).toBeLessThanOrEqual(4000);
    for (const rule of rules.slice(0, 100)) expect(rule).toMatch(/^[^{}]*\{[^{}]*\}$|^$/);
    expect(safe).not.toMatch(/url\(|@|:has|:host|--|position|animation|\\/);
  });

  it('keeps what tables are coloured with', () => {
    const css =
      '/* a */ #T_1 td, #T_1 th:nth-child(even) { color: rgb(1, 2, 3); background-color: #ff00aa } @media print { a { color: red } }';
    expect(safeSheet(css)).toBe('#T_1 td, #T_1 th:nth-child(even) { color: rgb(1, 2, 3); background-color: #ff00aa }');
    expect(safeDeclarations('width: 12.345678%; background: linear-gradient(90deg, #d65f5f 33.33333%, transparent 0)')).toContain(
      'linear-gradient',
    );
    expect(safeDeclarations('text-align: right !important; position: fixed; --x: 1; color: url(x)')).toBe('text-align: right');
  });
});

describe('SVG that reaches a browser', () => {
  it.each(hostileDrawings('alert(1)'))('is refused, or holds nothing that acts, loads or nests: %s', (_, svg) => {
    let written: string;
    try {
      written = boundSvg(svg);
    } catch (error) {
      expect((error as Error).message).toMatch(/shapes|too deeply|no SVG|filters/);
      return;
    }
    expect(written.startsWith('<svg xmlns=')).toBe(true);
    expect(depthOf(written)).toBeLessThanOrEqual(65);
    expect(written).not.toMatch(/<!|<(?:script|foreignObject|animate|set|feTurbulence|feMorphology)\b|\son\w+=|evil\.example|javascript:/);
    expect(written.isWellFormed()).toBe(true);
  });
});

it('the size of an image is told from its first bytes', () => {
  expect(pixelsOf(`data:image/png;base64,${pixel}`)).toBe(1);
  expect(pixelsOf('data:image/gif;base64,R0lGODlhECAQMAAAACw=')).toBe(0x2010 * 0x3010);
  expect(pixelsOf('data:image/png;base64,!!!')).toBe(0);
});
