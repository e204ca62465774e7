import fc from 'fast-check';

/** One of the many ways in which programs write a notebook. */
export interface WrittenForm {
  indent: string | undefined;
  comma: string;
  colon: string;
  newline: string;
  end: string;
  start: string;
  isAscii: boolean;
  isHtmlSafe: boolean;
  keys: 'sorted' | 'colab' | 'reversed';
  texts: 'lines' | 'strings';
  minor: number;
  /** Whether all cells, some or none have an id. */
  ids: 'all' | 'some' | 'none';
  /** Keys that nbformat does not know, and what is missing or wrong. */
  isOdd: boolean;
}

export const anyForm: fc.Arbitrary<WrittenForm> = fc.record({
  indent: fc.constantFrom(undefined, '', ' ', '  ', '   ', '    ', '        ', '\t'),
  comma: fc.constantFrom(',', ', '),
  colon: fc.constantFrom(':', ': '),
  newline: fc.constantFrom('\n', '\r\n'),
  end: fc.constantFrom('', '\n', '\n\n', ' '),
  start: fc.constantFrom('', '\ufeff', '\n'),
  isAscii: fc.boolean(),
  isHtmlSafe: fc.boolean(),
  keys: fc.constantFrom('sorted', 'colab', 'reversed'),
  texts: fc.constantFrom('lines', 'strings'),
  minor: fc.integer({ min: 0, max: 6 }),
  ids: fc.constantFrom('all', 'some', 'none'),
  isOdd: fc.boolean(),
});

const colabOrder = ['nbformat', 'nbformat_minor', 'cell_type', 'source', 'metadata', 'execution_count', 'outputs', 'output_type', 'cells'];

/** A number as it is spelled. */
class Spelled {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** The file of a notebook of nbformat 4.5, which is an object, in a form of its own. */
export function writeInForm(notebook: { cells: object[] }, form: WrittenForm): Uint8Array {
  const cells = notebook.cells.map((cell, index) => oddly(withId(cell, index, form), index, form));
  const whole = { ...notebook, cells, nbformat_minor: form.minor, ...(form.isOdd ? { foo: { a: new Spelled('1.50e+3') } } : {}) };
  const text = print(whole, form, form.newline);
  return new TextEncoder().encode(form.start + text + (form.indent === undefined ? form.end.trim() : form.end));
}

function withId(cell: object, index: number, { ids }: WrittenForm): object {
  const { id, ...rest } = cell as { id: string };
  return ids === 'all' || (ids === 'some' && index % 2 === 0) ? { id, ...rest } : rest;
}

/** What Jupyter opens with a warning. */
function oddly(cell: object, index: number, { isOdd }: WrittenForm): object {
  if (!isOdd) return cell;
  const odd = { ...cell, colour: new Spelled('-0.0') } as { [key: string]: unknown };
  if (index % 4 === 0) delete odd.execution_count;
  if (index % 4 === 1) delete odd.metadata;
  if (index % 4 === 2) odd.metadata = { tags: ['a', 'a', 'b,c'], collapsed: null, 9: 1, 10: new Spelled('1E5') };
  if (index % 4 === 3) odd.id = 'x'.repeat(70);
  return odd;
}

function print(value: unknown, form: WrittenForm, lineBreak: string, key = ''): string {
  if (value instanceof Spelled) return value.source;
  if (typeof value === 'string') return isText(key) && form.texts === 'lines' ? print(linesOf(value), form, lineBreak) : quote(value, form);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = form.indent === undefined ? '' : lineBreak + form.indent;
  const outer = form.indent === undefined ? '' : lineBreak;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = Array.isArray(value)
    ? value.map((item) => print(item, form, inner))
    : keysIn(value, form).map(
        (name) => `${quote(name, form)}${form.colon}${print((value as Record<string, unknown>)[name], form, inner, name)}`,
      );
  return parts.length === 0 ? `${open}${close}` : `${open}${inner}${parts.join(form.comma + inner)}${outer}${close}`;
}

function isText(key: string): boolean {
  return key === 'source' || key === 'text' || key.startsWith('text/');
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/).filter((line) => line !== '');
}

function keysIn(value: object, { keys }: WrittenForm): string[] {
  const sorted = Object.keys(value).sort();
  if (keys === 'sorted') return sorted;
  if (keys === 'reversed') return sorted.reverse();
  return [...colabOrder.filter((key) => sorted.includes(key)), ...sorted.filter((key) => !colabOrder.includes(key))];
}

function quote(text: string, { isAscii, isHtmlSafe }: WrittenForm): string {
  const spell = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  let quoted = JSON.stringify(text);
  if (isHtmlSafe) quoted = quoted.replaceAll(/[<>&]/g, spell);
  return isAscii ? quoted.replaceAll(/[\u0080-\uffff]/g, spell) : quoted;
}
