import { utf8Length } from './text.js';

const encoder = new TextEncoder();

/** Puts a text together from parts of another one and new ones; parts that follow each other there are copied at once. */
export class ByteWriter {
  readonly #original: Uint8Array;
  readonly #parts: (Uint8Array | string)[] = [];
  #copyFrom = 0;
  #copyTo = 0;

  constructor(original: Uint8Array) {
    this.#original = original;
  }

  copy(start: number, end: number): void {
    if (start !== this.#copyTo) {
      this.#endCopy();
      this.#copyFrom = start;
    }
    this.#copyTo = end;
  }

  text(text: string): void {
    if (text !== '') this.#add(text);
  }

  bytes(bytes: Uint8Array): void {
    this.#add(bytes);
  }

  /** A view of the original where nothing else was written. */
  finish(): Uint8Array {
    this.#endCopy();
    const [only] = this.#parts;
    if (only instanceof Uint8Array && this.#parts.length === 1) return only;
    const whole = new Uint8Array(this.#parts.reduce((size, part) => size + bytesIn(part), 0));
    let at = 0;
    for (const part of this.#parts) {
      if (typeof part === 'string') at += encoder.encodeInto(part, whole.subarray(at)).written;
      else {
        whole.set(part, at);
        at += part.length;
      }
    }
    return whole;
  }

  #add(part: Uint8Array | string): void {
    this.#endCopy();
    this.#parts.push(part);
  }

  #endCopy(): void {
    if (this.#copyTo > this.#copyFrom) this.#parts.push(this.#original.subarray(this.#copyFrom, this.#copyTo));
    this.#copyFrom = this.#copyTo = 0;
  }
}

function bytesIn(part: Uint8Array | string): number {
  return typeof part === 'string' ? utf8Length(part) : part.length;
}
