import type { Readable, Writable } from 'node:stream';
import { BridgeError } from '../core/errors.js';
import { type Channel, MessageStream } from './message-stream.js';

export interface HeaderChannelOptions {
  input: Readable;
  output: Writable;
  /** The longest message that is read. A longer one ends the channel. */
  maxMessageBytes: number;
}

const maxHeaderBytes = 4096;
const endOfHeader = '\r\n\r\n';

/**
 * JSON messages behind a header that has their length, as language servers want. What is not framed so, or is no JSON, ends the channel:
 * nothing says where the next message begins.
 */
export function createHeaderChannel({ input, output, maxMessageBytes }: HeaderChannelOptions): Channel {
  const incoming = new MessageStream<unknown>();
  const outgoing = new MessageStream<unknown>();
  const reader = new FrameReader(maxMessageBytes, (message) => incoming.send(message));
  const end = (error?: Error): void => incoming.close(error);
  input.on('data', (chunk: Buffer) => {
    if (incoming.closed) return;
    try {
      reader.add(chunk);
    } catch (error) {
      end(error instanceof Error ? error : new BridgeError('bad_message', 'A message could not be read.'));
    }
  });
  input.on('end', () => end());
  input.on('error', end);
  input.on('close', () => end());
  outgoing.consume({
    onItem: (message) => {
      const text = JSON.stringify(message);
      output.write(`Content-Length: ${Buffer.byteLength(text)}${endOfHeader}${text}`);
      // A far end that does not read must not fill our memory.
      if (output.writableLength > 4 * maxMessageBytes) end(new BridgeError('closed', 'The far end does not read what it is sent.'));
    },
  });
  output.on('error', end);
  return { incoming, outgoing };
}

/** Bytes in, messages out. A body that comes in many chunks is joined once. */
class FrameReader {
  readonly #maxBytes: number;
  readonly #take: (message: unknown) => void;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes of the body that is awaited; undefined while it is a header. */
  #bodySize: number | undefined;

  constructor(maxBytes: number, take: (message: unknown) => void) {
    this.#maxBytes = maxBytes;
    this.#take = take;
  }

  /** Throws `bad_message`, `bad_json` or `message_too_large`. */
  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#bodySize === undefined ? this.#readHeader() : this.#size >= this.#bodySize) {
      if (this.#bodySize === undefined || this.#size < this.#bodySize) return;
      const body = this.#drop(this.#bodySize);
      this.#bodySize = undefined;
      this.#take(toMessage(body));
    }
  }

  /** True if it was there. */
  #readHeader(): boolean {
    const all = this.#joined();
    const end = all.subarray(0, maxHeaderBytes).indexOf(endOfHeader);
    if (end < 0) {
      if (all.length >= maxHeaderBytes) throw new BridgeError('bad_message', 'What came is no header of a message.');
      return false;
    }
    const [, digits] = /^content-length: *(\d{1,12})\r?$/im.exec(all.toString('latin1', 0, end)) ?? [];
    if (digits === undefined) throw new BridgeError('bad_message', 'A header does not say how long its message is.');
    if (Number(digits) > this.#maxBytes)
      throw new BridgeError('message_too_large', `A message of ${digits} bytes came; ${this.#maxBytes} are read at most.`);
    this.#drop(end + endOfHeader.length);
    this.#bodySize = Number(digits);
    return true;
  }

  #joined(): Buffer {
    const [first, ...more] = this.#chunks;
    const all = first !== undefined && more.length === 0 ? first : Buffer.concat(this.#chunks, this.#size);
    this.#chunks = [all];
    return all;
  }

  /** Takes so many bytes from the front. */
  #drop(size: number): Buffer {
    const all = this.#joined();
    this.#chunks = size < all.length ? [all.subarray(size)] : [];
    this.#size -= size;
    return all.subarray(0, size);
  }
}

function toMessage(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch (error) {
    throw new BridgeError('bad_json', 'A message is no JSON.', { cause: error });
  }
}
