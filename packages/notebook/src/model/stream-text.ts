/** How a text changes: `keep` characters stay, `removed` goes, `text` takes its place. */
export interface TextEdit {
  keep: number;
  removed: string;
  text: string;
}

/**
 * The text of one stream output while it grows. Carriage returns and backspaces work as in JupyterLab: what is written after
 * them overwrites. Only the last line can change, so it is kept apart and the text before it is never looked at again.
 */
export class StreamText {
  /** Characters before the last line. */
  #lineStart: number;
  #line: string;
  /** Where the next character goes, in the last line. */
  #cursor: number;

  constructor(text = '') {
    this.#lineStart = text.lastIndexOf('\n') + 1;
    this.#line = text.slice(this.#lineStart);
    this.#cursor = this.#line.length;
  }

  write(chunk: string): TextEdit {
    if (this.#cursor === this.#line.length && !/[\r\b]/.test(chunk)) return this.#append(chunk);
    const keep = this.#lineStart;
    const removed = this.#line;
    const done: string[] = [];
    // Plain runs and the characters that move the cursor, in turn.
    for (const [part] of chunk.matchAll(/[^\n\r\b]+|[\n\r\b]/g)) this.#put(part, done);
    return { keep, removed, text: done.join('') + this.#line };
  }

  #append(chunk: string): TextEdit {
    const keep = this.#lineStart + this.#line.length;
    const lastBreak = chunk.lastIndexOf('\n');
    if (lastBreak === -1) this.#line += chunk;
    else {
      this.#lineStart = keep + lastBreak + 1;
      this.#line = chunk.slice(lastBreak + 1);
    }
    this.#cursor = this.#line.length;
    return { keep, removed: '', text: chunk };
  }

  #put(part: string, done: string[]): void {
    const [line, at] = [this.#line, this.#cursor];
    if (part === '\r') this.#cursor = 0;
    else if (part === '\n') {
      done.push(`${line}\n`);
      this.#lineStart += line.length + 1;
      this.#line = '';
      this.#cursor = 0;
    } else if (part === '\b') {
      if (at === 0) return;
      this.#line = line.slice(0, at - 1) + line.slice(at + 1);
      this.#cursor = at - 1;
    } else {
      this.#line = line.slice(0, at) + part + line.slice(at + part.length);
      this.#cursor = at + part.length;
    }
  }
}
