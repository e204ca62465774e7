import { codesOf, type Pen, penAfter, plainPen } from './pen.js';

/** Rows above the last one that a cursor can be moved to: nested progress bars have a few, screens of programs some dozens. */
export const maxRows = 100;
/** A cursor that is moved stops there, as at the edge of a wide screen. */
const maxColumns = 1000;

/** Characters, and the SGR codes of each, where one has any. */
interface Row {
  chars: string[];
  codes: string[] | undefined;
  /** So many characters at its beginning are known to be blank. */
  blank: number;
}

/** A control sequence (colours, movements), an operating-system command (title, link), a short one, or a run of text. */
const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /\x1b\[([0-9:;<=>?]{0,64})[ -/]{0,8}([@-~])|\x1b[\]P^_X][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b[()*+][0-9A-Za-z]|\x1b[@-Z\\^_=>78cDEHM]?|[\n\r\b\x07]|[^\x1b\n\r\b\x07]+/g;
/** One that has begun at the end of a text; and half of a character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const unfinished = /\x1b(?:\[[0-9:;<=>?]{0,64}[ -/]{0,8}|[\]P^_X][^\x07\x1b]{0,4096}\x1b?|[()*+])?$|[\ud800-\udbff]$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for.
const colours = /\x1b\[([\d;:]*)m|[^\x1b]+/g;

/** What a terminal shows: rows, and a cursor that writes into the last ones of them. Takes time in proportion to what is written. */
export class TextScreen {
  readonly #rows: (string | Row)[];
  #at: number;
  #column: number;
  #pen: Pen = plainPen;
  #codes = '';
  #unfinished = '';
  /** The first row that was touched since they were last settled. */
  #touched: number;

  /** The cursor stands behind the last row. */
  constructor(rows: readonly string[]) {
    this.#rows = [...rows];
    this.#at = rows.length - 1;
    this.#touched = this.#at;
    this.#column = toRow(rows.at(-1) ?? '').chars.length;
  }

  /** What is written next without a control just follows what is there. */
  get isAtEnd(): boolean {
    const row = this.#rows[this.#at];
    const isLast = this.#at === this.#rows.length - 1 && this.#codes === '' && this.#unfinished === '';
    return isLast && row !== undefined && this.#column === toRow(row).chars.length;
  }

  write(chunk: string): void {
    const text = this.#unfinished + chunk;
    this.#unfinished = unfinished.exec(text.slice(-5000))?.[0] ?? '';
    this.#read(text.slice(0, text.length - this.#unfinished.length));
  }

  /** A sequence that has no end is text, but for its first character. */
  end(): void {
    const rest = this.#unfinished.slice(1);
    this.#unfinished = '';
    this.#read(rest);
  }

  #read(text: string): void {
    for (const { 0: part, 1: parameters = '', 2: final } of text.matchAll(token)) {
      if (part === '\n') this.#goTo(this.#at + 1, 0);
      else if (part === '\r') this.#column = 0;
      else if (part === '\b') this.#column = Math.max(0, this.#column - 1);
      else if (final !== undefined) this.#control(final, parameters);
      else if (part !== '\x07' && part[0] !== '\x1b') this.#put(part);
    }
  }

  /** The rows as texts, with their colours, and the first that may be another than before. */
  settle(): { rows: string[]; touched: number } {
    const touched = this.#touched;
    for (let at = touched; at < this.#rows.length; at++) this.#rows[at] = toText(this.#rows[at] ?? '');
    this.#touched = this.#at;
    return { rows: this.#rows as string[], touched };
  }

  /** Forgets the rows that the cursor does not reach any more. */
  forget(): void {
    const gone = this.#rows.splice(0, this.#top).length;
    this.#at -= gone;
    this.#touched -= gone;
  }

  #row(): Row {
    const row = toRow(this.#rows[this.#at] ?? '');
    this.#rows[this.#at] = row;
    return row;
  }

  #goTo(index: number, column = this.#column): void {
    this.#at = Math.max(this.#top, index);
    this.#column = column;
    while (this.#at >= this.#rows.length) {
      this.#rows.push('');
      const left = this.#rows.length - 1 - maxRows;
      const row = this.#rows[left];
      if (typeof row === 'object') this.#rows[left] = toText(row);
    }
    this.#touched = Math.min(this.#touched, this.#at);
  }

  #control(final: string, parameters: string): void {
    // Sequences of the terminal's own programs.
    if (/^[<=>?]/.test(parameters)) return;
    const [first = 0, second = 0] = parameters.split(';', 2).map((parameter) => Number.parseInt(parameter, 10) || 0);
    const count = Math.max(1, first);
    switch (final) {
      case 'A':
        return this.#goTo(this.#at - count);
      case 'B':
        return this.#goTo(Math.min(this.#rows.length - 1, this.#at + count));
      case 'C':
        this.#column = Math.max(this.#column, Math.min(this.#column + count, maxColumns));
        return;
      case 'D':
        this.#column = Math.max(0, this.#column - count);
        return;
      case 'E':
        return this.#goTo(Math.min(this.#rows.length - 1, this.#at + count), 0);
      case 'F':
        return this.#goTo(this.#at - count, 0);
      case 'G':
        this.#column = Math.min(count, maxColumns) - 1;
        return;
      case 'H':
      case 'f':
        return this.#goTo(this.#top + Math.min(count, maxRows) - 1, Math.min(Math.max(1, second), maxColumns) - 1);
      case 'J':
        return this.#eraseScreen(first);
      case 'K':
        return this.#eraseRow(first);
      case 'm':
        this.#pen = penAfter(this.#pen, parameters);
        this.#codes = codesOf(this.#pen);
    }
  }

  get #top(): number {
    return Math.max(0, this.#rows.length - maxRows);
  }

  #put(text: string): void {
    const row = this.#row();
    const { chars } = row;
    if (this.#codes !== '' && !row.codes) row.codes = chars.map(() => '');
    while (chars.length < this.#column) {
      chars.push(' ');
      row.codes?.push('');
    }
    row.blank = Math.min(row.blank, this.#column);
    for (const char of text) {
      chars[this.#column] = char;
      if (row.codes) row.codes[this.#column] = this.#codes;
      this.#column++;
    }
  }

  /** 0: behind the cursor, 1: up to it, 2: all of it. */
  #eraseRow(part: number): void {
    const row = this.#row();
    if (part === 1) {
      const end = Math.min(this.#column + 1, row.chars.length);
      for (let at = row.blank; at < end; at++) {
        row.chars[at] = ' ';
        if (row.codes) row.codes[at] = '';
      }
      row.blank = Math.max(row.blank, end);
      return;
    }
    const length = part === 2 ? 0 : Math.min(this.#column, row.chars.length);
    row.chars.length = length;
    if (row.codes) row.codes.length = length;
    row.blank = Math.min(row.blank, length);
  }

  /** 0: what is behind the cursor; 2 and 3: the rows that it reaches, and it stands at their beginning. */
  #eraseScreen(part: number): void {
    if (part === 1) return;
    if (part !== 0) this.#goTo(this.#top, 0);
    this.#rows.length = this.#at + 1;
    this.#eraseRow(0);
  }
}

function toRow(row: string | Row): Row {
  if (typeof row !== 'string') return row;
  if (!row.includes('\x1b')) return { chars: [...row], codes: undefined, blank: 0 };
  const [chars, codes]: [string[], string[]] = [[], []];
  let pen = plainPen;
  for (const { 0: part, 1: parameters } of row.matchAll(colours)) {
    if (parameters !== undefined) pen = penAfter(pen, parameters);
    else
      for (const char of part) {
        chars.push(char);
        codes.push(codesOf(pen));
      }
  }
  return { chars, codes, blank: 0 };
}

/** A row has all of its colours itself, and ends without. */
function toText(row: string | Row): string {
  if (typeof row === 'string') return row;
  const { chars, codes } = row;
  if (!codes) return chars.join('');
  const parts: string[] = [];
  let before = '';
  chars.forEach((char, at) => {
    const code = codes[at] ?? '';
    if (code !== before) parts.push(`\x1b[${code === '' || before === '' ? code || '0' : `0;${code}`}m`);
    before = code;
    parts.push(char);
  });
  if (before !== '') parts.push('\x1b[0m');
  return parts.join('');
}
