import { codeOf } from '@notebridge/protocol/core/errors';
import { printMessage } from '@notebridge/protocol/core/wire';
import type { Channel } from '@notebridge/protocol/rpc/message-stream';
import { type RecordChannel, type RecordedLink, tapChannel } from '@notebridge/protocol/rpc/tapped-channel';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { RecordedProbe } from './recorded-probe.js';
import { type RecordedLine, type RecordedSide, type RecordingHeader, recordingFormat } from './recording-format.js';
import { type DeeplyRedacting, redactMessage, redactText } from './redact-message.js';

export interface RecorderOptions {
  /** Where lines go, each with its line break. Throws if they cannot be written. */
  file: { readonly path: string; append(lines: string): void; close(): void };
  redactor: DeeplyRedacting;
  /** The version of this program. */
  version: string;
  /** The number of this process. */
  pid: number;
  /** What the file holds already. Default: nothing. */
  continues?: RecordedProbe | undefined;
  /** Most that is written, in bytes; then recording stops, and the sessions go on. */
  maxBytes: number;
  /** Recording has stopped before its end: why, as a sentence. Called once. */
  onStop: (why: string) => void;
}

/** Lines that wait for the end of this turn of the loop; more are written at once. UTF-16 units. */
const maxWaiting = 1024 * 1024;
/** Room that is kept for the line that says why recording stopped. Bytes. */
const lastLineBytes = 512;

/** Writes what crosses connections as lines of JSON, without secrets. Nothing that goes wrong here reaches who talks. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #begin: number;
  readonly #sessions: Map<string, number>;
  #waiting = '';
  #flushing: NodeJS.Immediate | undefined;
  #bytes = 0;
  #messages = 0;
  /** What has reached the file. */
  #written = { bytes: 0, messages: 0 };
  #isOver = false;

  constructor(options: RecorderOptions) {
    const { version, pid, continues } = options;
    this.#options = options;
    this.#sessions = new Map(continues?.sessions);
    this.#bytes = continues?.bytes ?? 0;
    // The clock may have been set back meanwhile.
    this.#begin = performance.now() - Math.max(0, continues === undefined ? 0 : Date.now() - continues.beganAt);
    const header: RecordingHeader = { notebridge: 'recording', format: recordingFormat, version, date: new Date().toISOString(), pid };
    if (continues === undefined) this.#write(`${JSON.stringify(header)}\n`, false);
    else this.#writeLine({ t: this.#now(), continued: { pid } });
    this.#flush();
  }

  /** What was recorded, in words. */
  get summary(): string {
    const { bytes, messages } = this.#written;
    return `Recorded ${messages} messages, ${bytes} bytes, in "${this.#options.file.path}".`;
  }

  readonly record: RecordChannel = (channel: Channel, { name: link, we }: RecordedLink): Channel => {
    const session = (this.#sessions.get(link) ?? 0) + 1;
    this.#sessions.set(link, session);
    const they = we === 'client' ? 'server' : 'client';
    return tapChannel(channel, {
      onMessage: (message, direction) => {
        if (this.#isOver) return;
        const from: RecordedSide = direction === 'incoming' ? they : we;
        this.#writeLine({ t: this.#now(), link, session, from, message });
      },
      onClose: (direction, error) => {
        if (this.#isOver) return;
        const ended = direction === 'incoming' ? they : we;
        const { redactor } = this.#options;
        this.#writeLine({ t: this.#now(), link, session, ended, ...(error && { error: redactText(error.message, redactor) }) });
      },
    });
  };

  /** Writes what waits. Closing twice is harmless. */
  close(): void {
    this.#flush();
    this.#end();
  }

  #now(): number {
    return Math.round(performance.now() - this.#begin);
  }

  #writeLine(line: RecordedLine): void {
    let text: string;
    try {
      text =
        'message' in line ? printMessage({ ...line, message: redactMessage(line.message, this.#options.redactor) }) : printMessage(line);
    } catch (error) {
      if (!('message' in line)) throw error;
      const { message: _, ...rest } = line;
      // Nesting that no engine prints; the far end may still take it.
      text = printMessage({ ...rest, skipped: error instanceof RangeError ? 'message_too_deep' : (codeOf(error) ?? 'internal') });
    }
    this.#write(`${text}\n`, 'message' in line);
  }

  #write(line: string, isMessage: boolean): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes + lastLineBytes > this.#options.maxBytes) return this.#stopAtLimit();
    this.#bytes += bytes;
    if (isMessage) this.#messages++;
    this.#waiting += line;
    if (this.#waiting.length > maxWaiting) this.#flush();
    else this.#flushing ??= setImmediate(() => this.#flush());
  }

  #stopAtLimit(): void {
    const why = `The recording has reached ${this.#options.maxBytes} bytes (--max-size)`;
    const line = `${JSON.stringify({ t: this.#now(), stopped: why })}\n`;
    this.#waiting += line;
    this.#bytes += Buffer.byteLength(line);
    this.#flush();
    this.#stop(`${why}; what came after is not in it.`);
  }

  /** Lines of one turn of the loop go together, in one system call. */
  #flush(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const lines = this.#waiting;
    this.#waiting = '';
    if (lines === '' || this.#isOver) return;
    try {
      this.#options.file.append(lines);
      this.#written = { bytes: this.#bytes, messages: this.#messages };
    } catch (error) {
      this.#stop(`${messageOf(error)} Recording has stopped; the session goes on.`);
    }
  }

  #stop(why: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#options.onStop(why);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = '';
    this.#options.file.close();
  }
}
