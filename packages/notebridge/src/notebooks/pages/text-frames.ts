import type { Duplex } from 'node:stream';

/** Where the frames go. The socket is asked, since only it knows whether its closing handshake has begun. */
export interface TextFramesOptions {
  stream: Duplex;
  /** False once nothing may be sent any more. What waits then is dropped, as the socket itself would. */
  isOpen: () => boolean;
}

/**
 * Text frames of a WebSocket server (RFC 6455, 5.2: whole, unmasked, uncompressed), put into one buffer per turn of the event loop
 * and written by one system call. Two buffers per message, as the socket's own sender writes them, cost more than the message.
 * Frames that the socket writes itself (pings, the close) may come between, never inside.
 */
export class TextFrames {
  readonly #options: TextFramesOptions;
  #texts: string[] = [];
  #waiting = 0;
  readonly #flush = (): void => this.flush();

  constructor(options: TextFramesOptions) {
    this.#options = options;
  }

  /** What is not written yet, in UTF-16 units. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes a text; it leaves at the end of this turn of the loop. */
  send(text: string): void {
    if (this.#texts.push(text) === 1) queueMicrotask(this.#flush);
    this.#waiting += text.length;
  }

  /** Writes what waits, at once. */
  flush(): void {
    const texts = this.#texts;
    if (texts.length === 0) return;
    this.#texts = [];
    this.#waiting = 0;
    if (this.#options.isOpen()) this.#options.stream.write(toFrames(texts));
  }
}

const textFrame = 0x81;

function toFrames(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const total = sizes.reduce((sum, size) => sum + headerSize(size) + size, 0);
  const frames = Buffer.allocUnsafe(total);
  let at = 0;
  for (const [index, text] of texts.entries()) {
    const size = sizes[index] as number;
    at = writeHeader(frames, at, size);
    at += frames.write(text, at, 'utf8');
  }
  return frames;
}

function headerSize(size: number): number {
  return size < 126 ? 2 : size < 65_536 ? 4 : 10;
}

function writeHeader(frames: Buffer, at: number, size: number): number {
  frames[at] = textFrame;
  if (size < 126) {
    frames[at + 1] = size;
    return at + 2;
  }
  if (size < 65_536) {
    frames[at + 1] = 126;
    return frames.writeUInt16BE(size, at + 2);
  }
  frames[at + 1] = 127;
  frames.writeUInt32BE(Math.floor(size / 2 ** 32), at + 2);
  return frames.writeUInt32BE(size % 2 ** 32, at + 6);
}
