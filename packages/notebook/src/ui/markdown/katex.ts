import katex from 'katex';
import type { Formula } from './find-formulas.js';
import type { Part } from './parts.js';

/** For all formulas of one text together; what is left then is shown as it is written. */
const limitMs = 400;
const maxElements = 6000;
const maxDepth = 200;

/** Lays out the formulas of a text. What cannot be laid out stays as it is written, and says why. */
export function layOut(parts: readonly Part[]): Part[] {
  const endMs = performance.now() + limitMs;
  return parts.map((part) => {
    if (part.kind !== 'formula') return part;
    if (performance.now() > endMs) return { ...part, fault: 'the formulas of this text take too long to lay out' };
    try {
      return { ...part, html: toHtml(part.formula) };
    } catch (error) {
      return { ...part, fault: error instanceof RangeError ? 'it is nested too deeply' : reasonOf(error) };
    }
  });
}

/**
 * KaTeX trusts nothing: no links, images, classes or styles of the formula's own. Macros are a formula's own too, and their number and
 * every size are bounded.
 */
function toHtml({ tex, isBlock }: Formula): string {
  const html = katex.renderToString(asKatexKnows(tex), {
    displayMode: isBlock,
    throwOnError: true,
    strict: 'ignore',
    trust: false,
    maxExpand: 500,
    maxSize: 50,
    output: 'htmlAndMathml',
    macros: {},
  });
  assertBounded(html);
  return html;
}

/** An environment of LaTeX that Jupyter's own examples use, and KaTeX calls otherwise. */
function asKatexKnows(tex: string): string {
  return tex.replace(/\\begin\{eqnarray\*?\}/g, '\\begin{array}{rcl}').replace(/\\end\{eqnarray\*?\}/g, '\\end{array}');
}

function assertBounded(html: string): void {
  let elements = 0;
  let depth = 0;
  for (const [tag] of html.matchAll(/<\/?[a-z][^>]*>/gi)) {
    if (tag[1] === '/') depth--;
    else if (++elements > maxElements) throw new Error(`it has more than ${maxElements.toLocaleString('en')} parts`);
    else if (!tag.endsWith('/>') && ++depth > maxDepth) throw new RangeError('too deep');
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^KaTeX parse error: /, '').slice(0, 300);
}
