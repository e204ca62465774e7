import type { Readable } from 'node:stream';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { parseMessage } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { readByteLines } from '@notebridge/protocol/rpc/line-channel';
import { explain } from '@notebridge/protocol/util/errno';
import { getOrMake } from '@notebridge/protocol/util/get-or-make';
import { quote } from '@notebridge/protocol/util/quote';
import { type RecordedSide, type RecordingHeader, recordingFormat } from './recording-format.js';

/** One message of a link, or its end, with the line that it stands in. */
export type RecordedEntry =
  | { line: number; t: number; session: number; kind: 'message'; from: RecordedSide; message: JsonObject }
  | { line: number; t: number; session: number; kind: 'end'; ended: RecordedSide; error: string | undefined };

export interface Recording {
  header: RecordingHeader;
  links: ReadonlyMap<string, readonly RecordedEntry[]>;
  /** What is missing from it, as sentences. */
  gaps: readonly string[];
}

export interface ReadRecordingOptions {
  /** The name of the file, for messages. */
  file: string;
  /** This program's version, for messages. */
  version: string;
  /** Longest line, in UTF-16 units. */
  maxLineLength: number;
}

/**
 * Reads a recording. A last line that was cut off, by a crash of who wrote it, is left out and said. Rejects with `bad_recording`, which
 * names file and line.
 */
export async function readRecording(input: Readable, options: ReadRecordingOptions): Promise<Recording> {
  const reader = new RecordingReader(options);
  let lastByte: number | undefined;
  input.on('data', (chunk: Buffer) => {
    lastByte = chunk.at(-1);
  });
  await new Promise<void>((resolve, reject) => {
    let isRefused = false;
    const attempt = (take: () => void): void => {
      // Lines of the same chunk still come.
      if (isRefused) return;
      try {
        take();
      } catch (error) {
        isRefused = true;
        reject(error);
        input.destroy();
      }
    };
    readByteLines(input, {
      maxLength: options.maxLineLength,
      onLine: (text) => attempt(() => reader.take(text)),
      onSkip: () => attempt(() => reader.refuseLength()),
      onEnd: (error) => (error === undefined ? resolve() : reject(unreadable(options.file, error))),
    });
  });
  return reader.finish(lastByte === 0x0a);
}

export function unreadable(file: string, cause: unknown): BridgeError {
  return new BridgeError('bad_recording', `${quote(file)} cannot be read: ${explain(cause)}`, { cause });
}

/** It is printed as it is. */
const linkName = /^[^\p{C}]{1,200}$/u;

class RecordingReader {
  readonly #options: ReadRecordingOptions;
  readonly #links = new Map<string, RecordedEntry[]>();
  readonly #gaps: string[] = [];
  #line = 0;
  #header: RecordingHeader | undefined;
  /** What is wrong with the line before. It may be the last, and cut off. */
  #unread: BridgeError | undefined;

  constructor(options: ReadRecordingOptions) {
    this.#options = options;
  }

  take(text: string | Buffer): void {
    // A last line that was cut off may be forgiven; one before it may not.
    if (this.#unread !== undefined) throw this.#unread;
    this.#line++;
    const line = text.toString().trim();
    if (line === '') return;
    try {
      this.#takeValue(parseMessage(line));
    } catch (error) {
      if (codeOf(error) === 'bad_recording') throw error;
      const fault = this.fault(codeOf(error) === 'message_too_deep' ? 'is nested too deeply' : 'is not JSON', error);
      if (this.#header === undefined) throw fault;
      this.#unread = fault;
    }
  }

  refuseLength(): never {
    this.#line++;
    throw this.fault(`is longer than ${this.#options.maxLineLength} characters`);
  }

  finish(endsWithLineBreak: boolean): Recording {
    if (this.#unread !== undefined) {
      if (endsWithLineBreak || this.#unread.message.includes('nested')) throw this.#unread;
      this.#gaps.push(`Line ${this.#line} is cut off, and left out: who recorded it was ended in the middle of it.`);
    }
    if (this.#header === undefined) {
      this.#line = 1;
      throw this.fault('is missing: the file is empty');
    }
    return { header: this.#header, links: this.#links, gaps: this.#gaps };
  }

  fault(what: string, cause?: unknown): BridgeError {
    const { file } = this.#options;
    return new BridgeError('bad_recording', `${quote(file)}, line ${Math.max(1, this.#line)}: the line ${what}.`, {
      data: { file, line: this.#line },
      ...(cause === undefined ? {} : { cause }),
    });
  }

  #takeValue(value: unknown): void {
    if (this.#header === undefined) {
      this.#header = this.#parseHeader(value);
      return;
    }
    if (!isJsonObject(value)) throw this.fault('is no JSON object');
    if (typeof value.stopped === 'string') {
      this.#gaps.push(`${value.stopped}; what came after line ${this.#line} is not in it.`);
      return;
    }
    if (isJsonObject(value.continued)) return;
    const { t, link, session, from, ended } = value;
    if (typeof t !== 'number' || typeof link !== 'string' || !linkName.test(link) || typeof session !== 'number')
      throw this.fault('needs "t" and "session", numbers, and "link", a name');
    const place = { line: this.#line, t, session };
    if (isSide(ended)) this.#add(link, { ...place, kind: 'end', ended, error: typeof value.error === 'string' ? value.error : undefined });
    else if (!isSide(from)) throw this.fault('needs "from" or "ended", which is "client" or "server"');
    else if (typeof value.skipped === 'string') this.#gaps.push(`Line ${this.#line} stands for a message that could not be recorded.`);
    else for (const message of this.#parseMessages(value.message)) this.#add(link, { ...place, kind: 'message', from, message });
  }

  #parseHeader(value: unknown): RecordingHeader {
    if (!isJsonObject(value) || value.notebridge !== 'recording')
      throw this.fault('is not the first line of a recording ({"notebridge":"recording",…}); "notebridge record" writes one');
    if (value.format !== recordingFormat) {
      const { version } = this.#options;
      throw this.fault(
        `says format ${quote(value.format)}, written by Notebridge ${quote(value.version)}, and this is ${version}, which reads format ${recordingFormat}; use the version that wrote it, or a newer one`,
      );
    }
    return value as RecordingHeader;
  }

  /** One message, or the messages of a batch. */
  #parseMessages(message: unknown): JsonObject[] {
    const messages = Array.isArray(message) ? message : [message];
    if (!messages.every(isJsonObject)) throw this.fault('needs a "message" that is a JSON object');
    return messages;
  }

  #add(link: string, entry: RecordedEntry): void {
    getOrMake(this.#links, link, () => []).push(entry);
  }
}

function isSide(value: unknown): value is RecordedSide {
  return value === 'client' || value === 'server';
}
