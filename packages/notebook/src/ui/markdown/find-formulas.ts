/** A formula in a text, with its delimiters (`raw`) and without (`tex`). */
export interface Formula {
  readonly raw: string;
  readonly tex: string;
  /** On lines of its own. */
  readonly isBlock: boolean;
}

/** Longer ones are no formula: an opening mark that is never closed takes nothing with it. */
const maxFormula = 8000;
const blankLine = /\n[^\S\n]*\n/;

/** Where the next formula may begin; -1 for nowhere. */
export function nextFormulaStart(source: string): number {
  return source.search(/\$|\\\\?[([]|\\begin\{/);
}

/** Reads the formula with which a text begins, in any of the forms that Jupyter knows. */
export function readFormula(source: string): Formula | undefined {
  if (source[0] === '$') return source[1] === '$' ? between(source, '$$', '$$', true) : betweenDollars(source);
  if (source[0] !== '\\') return undefined;
  if (source.startsWith('\\begin{')) return readEnvironment(source);
  for (const slash of ['\\', '\\\\']) {
    if (source.startsWith(`${slash}(`)) return between(source, `${slash}(`, `${slash})`, false);
    if (source.startsWith(`${slash}[`)) return between(source, `${slash}[`, `${slash}]`, true);
  }
  return undefined;
}

/** A formula that begins a block of Markdown: what else begins with a dollar is text. */
export function readBlockFormula(source: string): Formula | undefined {
  const found = source.startsWith('$$') || /^\\(?:begin\{|\\?\[)/.test(source) ? readFormula(source) : undefined;
  // What stands in a line of text belongs to its paragraph.
  return found && /^[^\S\n]*(?:\n|$)/.test(source.slice(found.raw.length, found.raw.length + 200)) ? found : undefined;
}

function between(source: string, open: string, close: string, isBlock: boolean): Formula | undefined {
  const end = source.indexOf(close, open.length);
  if (end === -1 || end > maxFormula) return undefined;
  const tex = source.slice(open.length, end);
  if (tex.trim() === '' || (!isBlock && blankLine.test(tex))) return undefined;
  return { raw: source.slice(0, end + close.length), tex, isBlock };
}

const dollars = /^\$((?:\\[^]|[^$\\])+)\$(?!\d)/;
/** What stands in a formula and in no price. */
const texSigns = /[\\^_={}]|^\s*[a-z]\s*$/i;

/** `$5 and $6` is none: a space before the closing dollar only, or a digit behind it. */
function betweenDollars(source: string): Formula | undefined {
  const [raw = '', tex = ''] = dollars.exec(source.slice(0, maxFormula)) ?? [];
  const [beginsWithSpace, endsWithSpace] = [/^\s/.test(tex), /\s$/.test(tex)];
  if (raw === '' || blankLine.test(tex) || beginsWithSpace !== endsWithSpace) return undefined;
  return beginsWithSpace && !texSigns.test(tex) ? undefined : { raw, tex, isBlock: false };
}

function readEnvironment(source: string): Formula | undefined {
  const text = source.slice(0, maxFormula);
  const [, name] = /^\\begin\{([a-zA-Z]{1,20}\*?)\}/.exec(text) ?? [];
  if (name === undefined) return undefined;
  let depth = 0;
  for (const { 0: mark, 1: kind, index } of text.matchAll(new RegExp(`\\\\(begin|end)\\{${name.replace('*', '\\*')}\\}`, 'g'))) {
    depth += kind === 'begin' ? 1 : -1;
    if (depth > 0) continue;
    const raw = text.slice(0, index + mark.length);
    return { raw, tex: raw, isBlock: true };
  }
  return undefined;
}
