import { keysOf, sizeOf, toObject } from './json.js';
import type { ErrorOutput, MimeBundle } from './output.js';
import { bytesText, cutToBytes, utf8Length } from './text.js';

export interface OutputLimits {
  /** Bytes of printed text that a cell keeps. Default 1 MiB. */
  maxStreamBytes?: number;
  /** Bytes of all other outputs that a cell keeps: images, tables, results. Default 10 MiB. */
  maxRichBytes?: number;
  /** Outputs that a cell keeps. Default 1,000. */
  maxOutputs?: number;
}

export const defaultOutputLimits = { maxStreamBytes: 1024 * 1024, maxRichBytes: 10 * 1024 * 1024, maxOutputs: 1000 };

/** The end of what was left out is kept: the last lines of a long log are the ones that matter. */
const maxTailCharacters = 16 * 1024;

/** An error is always kept, and a cell never holds more of one than this of its message and of its traceback. */
const maxErrorBytes = 64 * 1024;

/** The note names no more types than a person reads, and none that is a text of its own. */
const maxNamedParts = 20;
const maxNameCharacters = 100;

export interface LeftOutPart {
  readonly what: string;
  readonly bytes: number;
}

/** What was left out of a cell's outputs, so that a note can say so. */
export class LeftOut {
  #streamBytes = 0;
  #streamChunks = 0;
  #tail = '';
  readonly #parts = new Map<string, { count: number; bytes: number }>();

  addText(text: string): void {
    this.#streamBytes += utf8Length(text);
    this.#streamChunks++;
    this.#tail += text;
    if (this.#tail.length > 4 * maxTailCharacters) this.#tail = this.#tail.slice(-2 * maxTailCharacters);
  }

  addPart({ what, bytes }: LeftOutPart): void {
    const name = this.#parts.has(what) || (this.#parts.size < maxNamedParts && what.length <= maxNameCharacters) ? what : 'other types';
    const { count, bytes: before } = this.#parts.get(name) ?? { count: 0, bytes: 0 };
    this.#parts.set(name, { count: count + 1, bytes: before + bytes });
  }

  /** The last lines of the printed text that was left out; empty if none was. */
  get tail(): string {
    if (this.#tail.length <= maxTailCharacters) return this.#tail;
    const tail = this.#tail.slice(-maxTailCharacters);
    const lineStart = tail.search(/[\n\r]/) + 1;
    // Without a line break, a character may have been cut in two.
    return lineStart > 0 && lineStart < tail.length ? tail.slice(lineStart) : tail.replace(/^[\udc00-\udfff]/, '');
  }

  note(limits: Required<OutputLimits>): string {
    const texts = this.#streamChunks > 0 ? [`${bytesText(this.#streamBytes)} of printed text`] : [];
    const parts = [...this.#parts].map(([what, { count, bytes }]) => `${count === 1 ? '' : `${count} × `}${what} (${bytesText(bytes)})`);
    const kept = `${bytesText(limits.maxStreamBytes)} of printed text, ${bytesText(limits.maxRichBytes)} of other outputs and ${limits.maxOutputs} outputs`;
    return `[Left out: ${[...texts, ...parts].join(', ')}. A cell keeps ${kept}.]\n`;
  }
}

/** The bytes that one value of a mime bundle takes, roughly for JSON. */
export function valueBytes(value: unknown): number {
  return typeof value === 'string' ? utf8Length(value) : sizeOf(value);
}

/**
 * The part of a bundle that fits. A value is kept whole or not at all, since half an image or half a page is none; only plain
 * text is cut.
 */
export function fitBundle(bundle: MimeBundle, maxBytes: number): { bundle: MimeBundle; bytes: number; leftOut: LeftOutPart[] } {
  const parts = keysOf(bundle).map((type) => ({ type, value: bundle[type], bytes: valueBytes(bundle[type]) }));
  const fitting = new Map<string, unknown>();
  const leftOut: LeftOutPart[] = [];
  let total = 0;
  // Small ones first: the plain text of a huge table is worth keeping.
  for (const { type, value, bytes } of parts.toSorted((a, b) => a.bytes - b.bytes)) {
    if (total + bytes <= maxBytes) {
      fitting.set(type, value);
      total += bytes;
    } else if (type === 'text/plain' && typeof value === 'string') {
      const cut = cutToBytes(value, maxBytes - total);
      leftOut.push({ what: type, bytes: bytes - utf8Length(cut) });
      if (cut === '') continue;
      fitting.set(type, cut);
      total += utf8Length(cut);
    } else leftOut.push({ what: type, bytes });
  }
  const kept = parts.filter(({ type }) => fitting.has(type)).map(({ type }) => [type, fitting.get(type)] as const);
  return { bundle: toObject(kept), bytes: total, leftOut };
}

/** An error that a cell can keep whatever its budget: the message cut, the middle of the traceback left out. */
export function fitError(error: ErrorOutput): ErrorOutput {
  if (sizeOf(error) <= maxErrorBytes) return error;
  return { ...error, ename: cutText(error.ename), evalue: cutText(error.evalue), traceback: fitTraceback(error.traceback.map(cutText)) };
}

/** Entries from both ends inwards, as many as fit; the last one names the error. */
function fitTraceback(lines: readonly string[]): string[] {
  let bytes = 0;
  let [head, tail] = [0, lines.length];
  while (head < tail) {
    const fromEnd = lines.length - tail <= head;
    bytes += utf8Length(lines[fromEnd ? tail - 1 : head] ?? '');
    if (bytes > maxErrorBytes) break;
    if (fromEnd) tail--;
    else head++;
  }
  if (head === tail) return [...lines];
  return [...lines.slice(0, head), `[${tail - head} entries of the traceback left out]`, ...lines.slice(tail)];
}

function cutText(text: string): string {
  const cut = cutToBytes(text, maxErrorBytes / 4);
  return cut === text ? text : `${cut}… [${bytesText(utf8Length(text) - utf8Length(cut))} left out]`;
}
