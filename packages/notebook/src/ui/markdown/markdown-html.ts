import { Marked, type TokenizerAndRendererExtension, type Tokens } from 'marked';
import { type Formula, nextFormulaStart, readBlockFormula, readFormula } from './find-formulas.js';
import type { PartList } from './parts.js';

interface FormulaToken extends Tokens.Generic {
  formula: Formula;
}

const maxLabel = 200;

/** Of the text that is laid out; a text is laid out in one go. */
let parts: PartList;

const marked = new Marked({ gfm: true, breaks: false });
marked.use({
  extensions: [
    extension('blockFormula', 'block', readBlockFormula, (source) => source.search(/(?<=^|\n)(?:\$\$|\\begin\{|\\\\?\[)/)),
    extension('inlineFormula', 'inline', readFormula, nextFormulaStart),
  ],
  renderer: {
    // The sanitiser lets no form through: what is ticked is a part, made by the window itself.
    listitem(item) {
      const label = item.text.replace(/\s+/g, ' ').slice(0, maxLabel);
      const box = item.task ? parts.add({ kind: 'task', isDone: item.checked === true, label }) : '';
      return `<li>${box}${this.parser.parse(item.tokens)}</li>\n`;
    },
    checkbox: () => '',
  },
});

/** Markdown as HTML that nobody has checked, and its parts. */
export function toHtml(source: string, list: PartList): string {
  parts = list;
  return marked.parse(source, { async: false });
}

/** The text of an output in LaTeX: formulas, and text between them. */
export function latexToHtml(source: string, list: PartList): string {
  const out: string[] = [];
  for (let rest = source; rest !== ''; ) {
    const at = nextFormulaStart(rest);
    const found = at === -1 ? undefined : readFormula(rest.slice(at));
    const to = at === -1 ? rest.length : found ? at : at + 1;
    out.push(escaped(rest.slice(0, to)));
    if (found) out.push(list.add({ kind: 'formula', formula: found }));
    rest = rest.slice(to + (found?.raw.length ?? 0));
  }
  return out.join('').replace(/\n{2,}/g, '<br><br>');
}

function extension(
  name: string,
  level: 'block' | 'inline',
  read: (source: string) => Formula | undefined,
  start: (source: string) => number,
): TokenizerAndRendererExtension {
  return {
    name,
    level,
    start: (source) => {
      const at = start(source);
      return at === -1 ? undefined : at;
    },
    tokenizer: (source) => {
      const formula = read(source);
      return formula ? { type: name, raw: formula.raw, formula } : undefined;
    },
    renderer: (token) => parts.add({ kind: 'formula', formula: (token as FormulaToken).formula }),
  };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
