import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { longLineBytes } from './long-strings-parser.js';

export interface ByteLinesOptions {
  /** Longest line, in UTF-16 units; a longer one is skipped. */
  maxLength: number;
  /** Receives each line, in order: lines of more than 256 KiB as bytes. */
  onLine: (line: string | Buffer) => void;
  /** Called once for each line that is skipped. */
  onSkip: () => void;
  /** After the last line; may be called more than once. */
  onEnd: (error?: Error) => void;
}

/** Reads the lines of a stream of bytes. Those that end in one chunk are decoded together; a long one is joined once, as bytes. */
export function readByteLines(input: Readable, options: ByteLinesOptions): void {
  const { onLine, onSkip, maxLength } = options;
  const started = new StartedLine(options);
  input.on('data', (data: Buffer | string) => {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data;
    const first = chunk.indexOf(newline);
    if (first < 0) return started.add(chunk);
    let from = 0;
    if (!started.isEmpty) {
      started.add(chunk.subarray(0, first));
      started.end();
      from = first + 1;
    }
    const last = chunk.lastIndexOf(newline);
    if (last >= from) {
      for (const line of chunk.toString('utf8', from, last).split('\n')) {
        if (line.length > maxLength) onSkip();
        else onLine(line);
      }
    }
    if (last + 1 < chunk.length) started.add(chunk.subarray(last + 1));
  });
  input.on('end', () => {
    if (!started.isEmpty) started.end();
    options.onEnd();
  });
  input.on('error', (error) => options.onEnd(error));
  // A stream that is destroyed has no end.
  input.on('close', () => options.onEnd());
}

const newline = 0x0a;

/** A line whose end has not come yet. */
class StartedLine {
  readonly #options: ByteLinesOptions;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** The length in UTF-16 units, counted once the bytes alone do not show that it is small enough. */
  #units = 0;
  #measured = 0;
  #decoder = new StringDecoder('utf8');
  #isSkipped = false;

  constructor(options: ByteLinesOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#isSkipped) return;
    this.#chunks.push(chunk);
    if (this.#bytes <= this.#options.maxLength) return;
    for (; this.#measured < this.#chunks.length; this.#measured++)
      this.#units += this.#decoder.write(this.#chunks[this.#measured] as Buffer).length;
    if (this.#units <= this.#options.maxLength) return;
    this.#isSkipped = true;
    this.#chunks = [];
    this.#options.onSkip();
  }

  end(): void {
    const line = this.#isSkipped ? undefined : this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [];
    this.#bytes = this.#units = this.#measured = 0;
    this.#decoder = new StringDecoder('utf8');
    this.#isSkipped = false;
    if (line === undefined) return;
    this.#options.onLine(line.length < longLineBytes ? line.toString('utf8') : line);
  }
}
