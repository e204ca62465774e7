import type { Readable, Writable } from 'node:stream';
import { BridgeError } from '../core/errors.js';
import { readByteLines } from './byte-lines.js';
import { parseFrame, printFrame } from './frames.js';
import { parseWithLongStrings } from './long-strings-parser.js';
import { type Channel, MessageStream } from './message-stream.js';

export interface LineChannelOptions {
  input: Readable;
  output: Writable;
  /** Longest line, in UTF-16 units; a longer one is skipped and reported. */
  maxMessageLength: number;
  onUnreadable: (error: BridgeError) => void;
  /** Long strings of long lines stay undecoded until they are read (`long-strings.ts`). The input must give bytes. Default false. */
  keepsLongStrings?: boolean;
}

/**
 * One JSON message per line, as MCP's stdio transport wants. Lines leave together, once per turn of the loop; a line that
 * comes in many chunks is joined once, when its end is there.
 */
export function createLineChannel(options: LineChannelOptions): Channel {
  const incoming = new MessageStream<unknown>();
  const outgoing = new MessageStream<unknown>();
  if (options.keepsLongStrings === true) readKeepingLongStrings(options, incoming);
  else readLines(options, incoming);
  writeLines(options, outgoing, incoming);
  return { incoming, outgoing };
}

function readLines({ input, maxMessageLength, onUnreadable }: LineChannelOptions, incoming: MessageStream<unknown>): void {
  let started = '';
  let isSkipping = false;

  const take = (line: string): void => takeLine(line, { incoming, onUnreadable });
  const skip = (): void => {
    if (!isSkipping) onUnreadable(tooLong(maxMessageLength));
    isSkipping = true;
    started = '';
  };

  input.setEncoding('utf8');
  input.on('data', (chunk: string) => {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      const line = started + chunk.slice(from, end);
      from = end + 1;
      started = '';
      if (line.length > maxMessageLength) skip();
      else if (!isSkipping) take(line);
      isSkipping = false;
    }
    if (!isSkipping) started += chunk.slice(from);
    if (started.length > maxMessageLength) skip();
  });
  input.on('end', () => {
    take(started);
    incoming.close();
  });
  input.on('error', (error) => incoming.close(error));
  // A stream that is destroyed has no end.
  input.on('close', () => incoming.close());
}

function readKeepingLongStrings({ input, maxMessageLength, onUnreadable }: LineChannelOptions, incoming: MessageStream<unknown>): void {
  const onLine = (line: string): void => takeLine(line, { incoming, onUnreadable });
  readByteLines(input, {
    maxLength: maxMessageLength,
    onLine,
    onLongLine: (line) => {
      const message = parseWithLongStrings(line);
      if (message === undefined) onLine(line.toString('utf8'));
      else incoming.send(message);
    },
    onSkip: () => onUnreadable(tooLong(maxMessageLength)),
    onEnd: (error) => incoming.close(error),
  });
}

interface LineTaker {
  incoming: MessageStream<unknown>;
  onUnreadable: (error: BridgeError) => void;
}

function takeLine(line: string, { incoming, onUnreadable }: LineTaker): void {
  // Takes the CR of a CRLF as well, and the byte order mark that some shells put first.
  const text = line.trim();
  if (text.length === 0) return;
  let message: unknown;
  try {
    message = parseFrame(text);
  } catch (error) {
    if (error instanceof BridgeError) return onUnreadable(error);
    throw error;
  }
  incoming.send(message);
}

function tooLong(maxLength: number): BridgeError {
  return new BridgeError('message_too_large', `A message is longer than ${maxLength} characters; it was skipped.`);
}

function writeLines(
  { output, maxMessageLength }: LineChannelOptions,
  outgoing: MessageStream<unknown>,
  incoming: MessageStream<unknown>,
): void {
  let lines = '';
  const flush = (): void => {
    if (lines.length === 0) return;
    const written = lines;
    lines = '';
    output.write(written);
    // A far end that does not read must not fill our memory.
    if (output.writableLength > 4 * maxMessageLength)
      incoming.close(new BridgeError('closed', 'The far end does not read what it is sent.'));
  };
  outgoing.consume({
    onItem: (message) => {
      if (lines.length === 0) setImmediate(flush);
      lines += `${printFrame(message)}\n`;
    },
    onClose: flush,
  });
  // The far end closed: there is nobody to tell, and nothing to throw.
  output.on('error', (error) => incoming.close(error));
}
