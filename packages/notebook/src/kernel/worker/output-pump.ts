import type { Execution } from '../kernel.js';
import type { SentReport } from '../messages.js';
import type { SignalReceiver } from '../shared-signals.js';

type StreamName = 'stdout' | 'stderr';

/** `cell`: whose code shows it. */
interface ShownOutput {
  cell: number;
  output: string;
  displayId?: string;
  update?: boolean;
}

/** Text waits at most so long, and only while Python prints faster than anybody reads. */
const gatherMs = 50;
/** So many lines in `gatherMs` go out at once; further ones are gathered. */
const promptFlushes = 10;
const chunkCharacters = 32 * 1024;
/** More than this may not be under way to the kernel: then Python waits. */
const windowCharacters = 1024 * 1024;
/** Where the kernel can't say what it has taken, a cell gets so much stream text and no more. */
const unsharedLimit = 16 * 1024 * 1024;
const unsharedReason = 'this page is not cross-origin isolated, so Python can not wait until they are taken';

/**
 * Takes what Python writes and shows, keeps it in order, and sends it on: promptly while it is little, gathered while it is
 * much, and never faster than the kernel takes it.
 */
export class OutputPump {
  readonly #post: (report: SentReport) => void;
  readonly #signals: SignalReceiver;
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  /** The cell that runs, or ran last. */
  #count = 0;
  /** The one whose code writes: tasks outlive their cells. */
  #writer = 0;
  #name: StreamName = 'stdout';
  #text = '';
  #since = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #windowStart = 0;
  #flushes = 0;
  #streamed = 0;
  #dropped = 0;

  constructor({ post, signals }: { post: (report: SentReport) => void; signals: SignalReceiver }) {
    this.#post = post;
    this.#signals = signals;
  }

  /** This cell runs now. */
  begin(count: number): void {
    this.flush();
    this.#count = count;
    this.#writer = count;
    this.#streamed = 0;
    this.#dropped = 0;
  }

  /** What is written from here on belongs to this cell. */
  setWriter(count: number): void {
    if (count === this.#writer) return;
    this.flush();
    this.#writer = count;
  }

  /** Bytes of a descriptor of Python's. Takes them all: Python's text layer does not look at a smaller answer. */
  write(name: StreamName, bytes: Uint8Array): number {
    for (let start = 0; start < bytes.length; start += chunkCharacters) {
      // A KeyboardInterrupt is about to come: the rest of one huge print need not.
      if (start > 0 && this.#signals.isInterrupted()) break;
      this.#add(name, bytes.subarray(start, start + chunkCharacters));
    }
    return bytes.length;
  }

  show({ cell, output, displayId, update }: ShownOutput, characters: number): void {
    this.flush();
    this.#send({
      type: 'output',
      count: cell,
      output,
      characters,
      ...(displayId === undefined ? {} : { displayId, update: update === true }),
    });
  }

  clear({ cell, wait }: { cell: number; wait: boolean }): void {
    this.flush();
    this.#post({ type: 'clear', count: cell, wait });
  }

  /** `result` goes out with the end: for a small cell, a message of its own would be a good part of the whole cost. */
  end({ status, result }: { status: Execution['status']; result?: string }, characters: number): void {
    this.flush();
    if (this.#dropped > 0) this.#sendStream(this.#count, 'stderr', `[${this.#dropped} characters not shown: ${unsharedReason}]\n`);
    const end = { type: 'done', count: this.#count, status } as const;
    if (result === undefined) this.#post(end);
    else this.#send({ ...end, result, characters });
  }

  /** Called often while Python computes. */
  tick(): void {
    if (this.#text !== '' && performance.now() - this.#since >= gatherMs) this.flush();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    this.#text = '';
    if (text !== '') this.#sendText(this.#name, text);
  }

  #add(name: StreamName, bytes: Uint8Array): void {
    if (name !== this.#name) this.flush();
    this.#name = name;
    const now = performance.now();
    if (this.#text === '') this.#since = now;
    // A character may be cut in two by the end of the bytes: its decoder remembers.
    this.#text += this.#decoders[name].decode(bytes, { stream: true });
    if (this.#isDue(now)) this.flush();
    // Only reached when Python waits: while it computes, `tick` does this.
    else this.#timer ??= setTimeout(() => this.flush(), gatherMs);
  }

  #isDue(now: number): boolean {
    if (this.#text.length >= chunkCharacters || now - this.#since >= gatherMs) return true;
    if (!this.#text.endsWith('\n')) return false;
    if (now - this.#windowStart >= gatherMs) {
      this.#windowStart = now;
      this.#flushes = 0;
    }
    return ++this.#flushes <= promptFlushes;
  }

  #sendText(name: StreamName, text: string): void {
    this.#streamed += text.length;
    if (!this.#signals.shared && this.#streamed > unsharedLimit) this.#dropped += text.length;
    else this.#sendStream(this.#writer, name, text);
  }

  #sendStream(count: number, name: StreamName, text: string): void {
    this.#send({ type: 'output', count, output: { output_type: 'stream', name, text }, characters: text.length });
  }

  #send(report: SentReport & { characters: number }): void {
    if (this.#signals.shared) this.#signals.waitForRoom(report.characters, windowCharacters);
    this.#post(report);
  }
}
