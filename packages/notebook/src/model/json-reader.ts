import { ExactNumber } from '@notebridge/protocol/json';
import { toObject } from './json.js';
import { isContainer, readContainer, skipSpace } from './json-spans.js';
import { takenStringOf } from './long-strings.js';

/** The way from the root to a value: keys and indexes. */
export type JsonPath = readonly (string | number)[];

export class JsonSyntaxError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = 'JsonSyntaxError';
    this.offset = offset;
  }
}

/**
 * Parses JSON as Python's `json` does, which writes the notebooks of this world: NaN and Infinity are numbers, and nothing
 * else is allowed beyond the standard. Order of keys and spelling of numbers are kept. `strings`: those that were taken out of the text.
 * Throws `JsonSyntaxError`.
 */
export function parseNotebookJson(text: string, strings: readonly string[] = []): unknown {
  const reader = new Reader(text, strings);
  const value = reader.readValue();
  reader.expectEnd();
  return value;
}

/** Where the value at `path` begins in a text that `parseNotebookJson` has accepted; of a path that leads nowhere, its last place that is there. */
export function offsetOf(text: string, path: JsonPath): number {
  const bytes = new TextEncoder().encode(text);
  let at = skipSpace(bytes, 0);
  for (const step of path) {
    // Of equal keys the last one counts.
    const child = isContainer(bytes, at) && readContainer(bytes, at).children.findLast(({ key }, index) => (key ?? index) === step);
    if (!child) break;
    at = child.value;
  }
  return new TextDecoder().decode(bytes.subarray(0, at)).length;
}

const maxDepth = 256;

// One sticky expression per token: the engine's own scanner is faster than a loop over characters in JavaScript.
const space = /[ \t\n\r]*/y;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const words: Record<string, unknown> = { true: true, false: false, null: null };
const pythonNumbers = ['NaN', 'Infinity', '-Infinity'];

class Reader {
  readonly #text: string;
  readonly #strings: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(text: string, strings: readonly string[]) {
    this.#text = text;
    this.#strings = strings;
  }

  readValue(): unknown {
    switch (this.#peek()) {
      case '{':
        return toObject(this.#members());
      case '[':
        return this.#readArray();
      case '"':
        return this.#readString();
      default:
        return this.#readWord();
    }
  }

  expectEnd(): void {
    if (this.#peek() !== undefined) throw this.#fault('the end of the text was expected');
  }

  #readArray(): unknown[] {
    const values: unknown[] = [];
    for (const index of this.#items()) values[index] = this.readValue();
    return values;
  }

  *#members(): Generator<readonly [string, unknown]> {
    for (const key of this.#keys()) yield [key, this.readValue()];
  }

  *#keys(): Generator<string> {
    this.#open();
    if (this.#peek() !== '}') {
      do {
        if (this.#peek() !== '"') throw this.#fault('a key in double quotes was expected');
        const key = this.#readString();
        if (this.#peek() !== ':') throw this.#fault('":" was expected');
        this.#at++;
        yield key;
      } while (this.#hasMore('}'));
    }
    this.#close();
  }

  *#items(): Generator<number> {
    this.#open();
    let index = 0;
    if (this.#peek() !== ']') {
      do yield index++;
      while (this.#hasMore(']'));
    }
    this.#close();
  }

  #hasMore(end: string): boolean {
    const next = this.#peek();
    if (next === end) return false;
    if (next !== ',') throw this.#fault(`"," or "${end}" was expected`);
    this.#at++;
    return true;
  }

  #open(): void {
    if (++this.#depth > maxDepth) throw this.#fault(`is nested deeper than ${maxDepth} levels`);
    this.#at++;
  }

  #close(): void {
    this.#depth--;
    this.#at++;
  }

  #readString(): string {
    const start = this.#at;
    let end = start;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end === -1) throw this.#fault('the string that begins here has no end');
    } while (this.#isEscaped(end));
    this.#at = end + 1;
    const taken = this.#strings.length === 0 ? undefined : takenStringOf(this.#text.slice(start + 1, end), this.#strings);
    if (taken !== undefined) return taken;
    try {
      // The engine unescapes, refuses what is no escape, and makes a copy that does not hold the whole text in memory.
      return JSON.parse(this.#text.slice(start, end + 1));
    } catch {
      this.#at = start;
      throw this.#fault('the string that begins here has a line break, a control character or an unknown escape in it');
    }
  }

  #isEscaped(quote: number): boolean {
    let at = quote;
    while (this.#text.charCodeAt(at - 1) === 0x5c) at--;
    return (quote - at) % 2 === 1;
  }

  #readWord(): unknown {
    const python = pythonNumbers.find((name) => this.#text.startsWith(name, this.#at));
    const word = python ?? Object.keys(words).find((name) => this.#text.startsWith(name, this.#at));
    if (word !== undefined) {
      this.#at += word.length;
      return python === undefined ? words[word] : new ExactNumber(word);
    }
    numberToken.lastIndex = this.#at;
    const source = numberToken.exec(this.#text)?.[0];
    if (source === undefined) throw this.#fault('a value was expected');
    this.#at += source.length;
    const number = Number(source);
    return String(number) === source ? number : new ExactNumber(source);
  }

  /** The next character that is no space; undefined at the end. */
  #peek(): string | undefined {
    space.lastIndex = this.#at;
    space.test(this.#text);
    this.#at = space.lastIndex;
    return this.#text[this.#at];
  }

  #fault(message: string): JsonSyntaxError {
    return new JsonSyntaxError(message, this.#at);
  }
}

/** A path as programs write it: `cells[3].outputs[0].data["image/png"]`. */
export function pathText(path: JsonPath): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  });
  return steps.join('').replace(/^\./, '');
}

/** Line and column of an offset, both from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf('\n');
  return { line: before.split('\n').length, column: offset - lastBreak };
}
