// @module-tag P-233

import { describe, expect, it } from 'vitest';
import { latexToHtml, toHtml } from '../../src/ui/markdown/markdown-html.js';
import { PartList } from '../../src/ui/markdown/parts.js';

/** The formulas of a Markdown text; those on lines of their own in brackets. */
function formulasOf(source: string, layOut = toHtml): string[] {
  const list = new PartList('key');
  layOut(source, list);
  return list.parts.flatMap((part) => {
    if (part.kind !== 'formula') return [];
    return part.formula.isBlock ? `[${part.formula.tex.trim()}]` : part.formula.tex;
  });
}

describe('formulas in Markdown', () => {
  it.each([
    ['Let $x_1$ and $y_2$ be', ['x_1', 'y_2']],
    ['$$\nx^2\n$$', ['[x^2]']],
    ['so $$x^2$$ holds', ['[x^2]']],
    ['\\(a+b\\) and \\[c\\]', ['a+b', '[c]']],
    ['\\\\(a\\\\) and\n\n\\\\[c\\\\]', ['a', '[c]']],
    ['\\begin{align}a &= b \\\\ c_1 &= d_1\\end{align}', ['[\\begin{align}a &= b \\\\ c_1 &= d_1\\end{align}]']],
    [
      'text\n\\begin{matrix}\\begin{matrix}a\\end{matrix}\\end{matrix} more',
      ['[\\begin{matrix}\\begin{matrix}a\\end{matrix}\\end{matrix}]'],
    ],
    ['- in a list $a*b*c$\n- $$\nx\n$$', ['a*b*c', '[x]']],
    ['| a |\n|---|\n| $x$ |', ['x']],
    ['$ x^2 $', [' x^2 ']],
    ['$n$-th, $1$, $\\$5$', ['n', '1', '\\$5']],
    ['over $a\n= b$ lines', ['a\n= b']],
  ])('are found: %j', (source, formulas) => {
    expect(formulasOf(source)).toEqual(formulas);
  });

  it.each([
    'between $5 and $6',
    '$5-$10',
    'US$ 5 and US$ 6',
    '\\$x\\$',
    '`$x$`',
    '```\n$$x$$\n```',
    '$a\n\nb$',
    'it costs $5',
    '$$ never closed',
    '\\begin{align} never closed',
    '\\(a\n\nb\\)',
    '$$$$',
  ])('are not seen where there is none: %j', (source) => {
    expect(formulasOf(source)).toEqual([]);
  });

  it('end within 8,000 characters', () => {
    expect(formulasOf(`$${'x'.repeat(7000)}$`).length).toBe(1);
    expect(formulasOf(`$${'x'.repeat(9000)}$`)).toEqual([]);
  });

  it('leave the text around them as it is', () => {
    const list = new PartList('key');
    expect(toHtml('a *b* $x*y$ **c**, $5 and $6', list)).toBe(
      '<p>a <em>b</em> <span nb-part="key-0"></span> <strong>c</strong>, $5 and $6</p>\n',
    );
  });
});

it('an output in LaTeX is formulas and text, and no markup', () => {
  expect(formulasOf('$\\displaystyle x$ and \\begin{eqnarray}a &=& b\\end{eqnarray}', latexToHtml)).toEqual([
    '\\displaystyle x',
    '[\\begin{eqnarray}a &=& b\\end{eqnarray}]',
  ]);
  expect(latexToHtml('<b>5</b> & $6', new PartList('key'))).toBe('&lt;b&gt;5&lt;/b&gt; &amp; $6');
});
