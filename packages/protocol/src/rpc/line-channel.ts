import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { BridgeError } from '../core/errors.js';
import { longLineBytes } from './long-strings-parser.js';
import { type Channel, MessageStream } from './message-stream.js';
import { parseFrame, printFrameInPieces } from './messages.js';

export interface LineChannelOptions {
  input: Readable;
  output: Writable;
  /** Longest line, in UTF-16 units; a longer one is skipped and reported. */
  maxMessageLength: number;
  onUnreadable: (error: BridgeError) => void;
  /** Called once when nothing more comes in, with the error if it is a fault; closes `incoming`, now or later. Default: it is closed at once. */
  onEnd?: (error: Error | undefined) => void;
}

/**
 * One JSON message per line, as MCP's stdio transport wants. Lines leave together, once per turn of the loop; a line that
 * comes in many chunks is joined once, when its end is there.
 */
export function createLineChannel(options: LineChannelOptions): Channel {
  const incoming = new MessageStream<unknown>();
  const outgoing = new MessageStream<unknown>();
  const { onEnd = (error) => incoming.close(error) } = options;
  let isOver = false;
  const end = (error?: Error): void => {
    if (isOver) return;
    isOver = true;
    onEnd(error);
  };
  const take = (message: unknown): void => {
    if (!isOver) incoming.send(message);
  };
  readLines(options, take, end);
  writeLines(options, outgoing, end);
  return { incoming, outgoing };
}

function readLines(
  { input, maxMessageLength, onUnreadable }: LineChannelOptions,
  take: (message: unknown) => void,
  end: (error?: Error) => void,
): void {
  const onLine = (line: string | Buffer): void => {
    // Takes the CR of a CRLF as well, and the byte order mark that some shells put first.
    const text = typeof line === 'string' ? line.trim() : line;
    if (typeof text === 'string' ? text.length === 0 : text.every((byte) => byte <= 0x20)) return;
    let message: unknown;
    try {
      message = parseFrame(text);
    } catch (error) {
      if (error instanceof BridgeError) return onUnreadable(error);
      throw error;
    }
    take(message);
  };
  readByteLines(input, {
    maxLength: maxMessageLength,
    onLine,
    onSkip: () =>
      onUnreadable(new BridgeError('message_too_large', `A message is longer than ${maxMessageLength} characters; it was skipped.`)),
    onEnd: end,
  });
}

function writeLines(
  { output, maxMessageLength }: LineChannelOptions,
  outgoing: MessageStream<unknown>,
  end: (error?: Error) => void,
): void {
  let lines = '';
  const write = (piece: string | Buffer): void => {
    output.write(piece);
    // A far end that does not read must not fill our memory.
    if (output.writableLength > 4 * maxMessageLength) end(new BridgeError('closed', 'The far end does not read what it is sent.'));
  };
  const flush = (): void => {
    if (lines.length === 0) return;
    const written = lines;
    lines = '';
    write(written);
  };
  outgoing.consume({
    onItem: (message) => {
      const printed = printFrameInPieces(message);
      if (typeof printed === 'string') {
        if (lines.length === 0) setImmediate(flush);
        lines += `${printed}\n`;
        return;
      }
      flush();
      for (const piece of printed) write(piece);
      write('\n');
    },
    onClose: flush,
  });
  // The far end closed: nobody to notify, and nothing to throw.
  output.on('error', (error) => end(error));
}

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
