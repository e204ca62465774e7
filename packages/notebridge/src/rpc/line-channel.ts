import type { Readable, Writable } from 'node:stream';
import { BridgeError } from '../core/errors.js';
import { readByteLines } from './byte-lines.js';
import { parseFrame, printFrameInPieces } from './frames.js';
import { type Channel, MessageStream } from './message-stream.js';

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
