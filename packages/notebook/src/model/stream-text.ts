import { sameStart } from './text.js';
import { maxRows, TextScreen } from './text-screen.js';

/** How a text changes: `keep` characters stay, `removed` goes, `text` takes its place. */
export interface TextEdit {
  keep: number;
  removed: string;
  text: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /[\x1b\r\b\x07]|[\ud800-\udbff]$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const allButColours = /[\r\b\x07]|\x1b(?!\[[\d;:]{0,64}m)/;

/**
 * The text of one stream output while it grows, as a terminal shows it: what was written over is gone, colours stay. Only its last rows can
 * change, so the text before them is never looked at again.
 */
export class StreamText {
  /** Characters before the rows. */
  #before = 0;
  #rows: string[] = [''];
  /** Undefined while what comes just follows what is there. */
  #screen: TextScreen | undefined;

  constructor(text = '') {
    this.#append(text);
  }

  write(chunk: string): TextEdit {
    if (!this.#screen && !control.test(chunk)) return this.#append(chunk);
    const screen = this.#screen ?? new TextScreen(this.#rows);
    screen.write(chunk);
    const { rows, touched } = screen.settle();
    const [removed, text] = [this.#rows, rows].map((all) => all.slice(touched).join('\n')) as [string, string];
    const same = sameStart(removed, text);
    const keep = this.#lengthBefore(touched) + same;
    this.#rows = [...rows];
    this.#forget();
    screen.forget();
    this.#screen = screen.isAtEnd ? undefined : screen;
    return { keep, removed: removed.slice(same), text: text.slice(same) };
  }

  #append(text: string): TextEdit {
    const last = this.#rows.length - 1;
    const keep = this.#lengthBefore(last) + (this.#rows[last]?.length ?? 0);
    const [first = '', ...more] = text.split('\n');
    this.#rows[last] += first;
    this.#rows = this.#rows.concat(more);
    this.#forget();
    return { keep, removed: '', text };
  }

  #lengthBefore(row: number): number {
    let length = this.#before;
    for (let at = 0; at < row; at++) length += (this.#rows[at]?.length ?? 0) + 1;
    return length;
  }

  #forget(): void {
    const gone = Math.max(0, this.#rows.length - maxRows);
    this.#before = this.#lengthBefore(gone);
    this.#rows = this.#rows.slice(gone);
  }
}

/** A text of any program, as a terminal shows it, with its colours. */
export function settle(text: string): string {
  if (!allButColours.test(text)) return text;
  const screen = new TextScreen(['']);
  screen.write(text);
  screen.end();
  return screen.settle().rows.join('\n');
}
