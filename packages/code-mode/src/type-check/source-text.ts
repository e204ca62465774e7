/** A place in a text, as language servers count: from 0, columns in UTF-16 units. */
export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

/** UTF-16 units. */
const nearUnits = 4000;

/** The code, with what its lines alone tell. */
export class SourceText {
  readonly text: string;
  readonly #starts: number[] = [0];
  #caught: readonly (readonly [from: number, to: number])[] | undefined;

  constructor(text: string) {
    this.text = text;
    for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) this.#starts.push(index + end.length);
  }

  offsetOf({ line, character }: Position): number {
    const start = this.#starts[line] ?? this.text.length;
    return Math.min(start + character, this.#starts[line + 1] ?? this.text.length);
  }

  positionOf(offset: number): Position {
    let line = this.#starts.length - 1;
    while (line > 0 && (this.#starts[line] ?? 0) > offset) line--;
    return { line, character: offset - (this.#starts[line] ?? 0) };
  }

  lineAt(line: number): string {
    return this.text.slice(this.#starts[line], this.#starts[line + 1]).trimEnd();
  }

  /** The text before a range, as far as it is near. */
  before({ start }: Range): string {
    const offset = this.offsetOf(start);
    return this.text.slice(Math.max(0, offset - nearUnits), offset);
  }

  textOf({ start, end }: Range): string {
    return this.text.slice(this.offsetOf(start), this.offsetOf(end));
  }

  /** Whether the code may go on after an error in this line: it stands in a `try` with `except`, or a `with` that takes errors. */
  mayBeCaught(line: number): boolean {
    this.#caught ??= this.#findCaught();
    return this.#caught.some(([from, to]) => from <= line && line < to);
  }

  /** By words and indentation. What only looks like it, in a string, counts as well: then nothing is said of it. */
  #findCaught(): [number, number][] {
    const found: [number, number][] = [];
    const open = new Map<string, number>();
    for (let line = 0; line < this.#starts.length; line++) {
      const [, margin = '', word = ''] = /^([ \t]*)(try\b|except\b|finally\b|(?:async[ \t]+)?with\b)/.exec(this.lineAt(line)) ?? [];
      const from = open.get(margin);
      if (word === 'try') open.set(margin, line);
      else if (word === 'except' && from !== undefined) found.push([from, line]);
      else if (word.endsWith('with') && /suppress|raises|assertRaises/i.test(this.lineAt(line)))
        found.push([line, this.#endOfBlock(line, margin)]);
      if (word === 'except' || word === 'finally') open.delete(margin);
    }
    return found;
  }

  /** The first line that is not further in. A bracket that is closed there belongs to the block. */
  #endOfBlock(line: number, margin: string): number {
    const end = this.#starts.findIndex((_, at) => {
      const text = at > line ? this.lineAt(at) : '';
      return text.trim() !== '' && (/^[ \t]*/.exec(text)?.[0].length ?? 0) <= margin.length && !/^[ \t]*[)\]}]/.test(text);
    });
    return end < 0 ? this.#starts.length : end;
  }
}
