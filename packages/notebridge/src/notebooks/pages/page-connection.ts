import type { Duplex } from 'node:stream';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject } from '@notebridge/protocol/json';
import type { Channel } from '@notebridge/protocol/rpc/message-stream';
import { parseFrame, printFrame } from '@notebridge/protocol/rpc/messages';
import { createLateness } from '@notebridge/protocol/util/late-beat';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { FaultLog } from '@notebridge/system/net/fault-log';
import type { WebSocket } from 'ws';

export interface PageConnectionOptions {
  socket: WebSocket;
  /** The stream below the socket. */
  stream: Duplex;
  channel: Channel;
  logger: Logger;
  /** Time between pings, and time to answer one. Milliseconds. */
  pingMs: number;
  /** Bytes that may wait to be sent before a message is refused. */
  maxBufferedBytes: number;
  /** Called once, when the page is gone, before its channel is closed. */
  onClose: () => void;
}

/**
 * One WebSocket connection of a page: frames in and out of a channel, a heartbeat, and a brake. A page that floods is not read
 * for a while, so that its own buffers fill up and nothing is lost. Nothing that it sends may throw out of here.
 */
export class PageConnection {
  readonly #options: PageConnectionOptions;
  readonly #faults: FaultLog;
  readonly #budget = new FrameBudget();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #isLate: () => boolean;
  readonly #frames: TextFrames;
  #answered = true;
  #ended = false;

  constructor(options: PageConnectionOptions) {
    this.#options = options;
    this.#faults = new FaultLog(options.logger);
    const { socket, stream, channel, pingMs } = options;
    this.#frames = new TextFrames({ stream, isOpen: () => socket.readyState === socket.OPEN });
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.on('ping', () => this.#brake());
    socket.on('pong', () => {
      this.#answered = true;
      this.#brake();
    });
    // After an error the page may keep the socket open for as long as it likes; its calls need not wait for that.
    socket.on('error', (error) => this.#end(reasonOf(error)));
    socket.on('close', (code, reason) => this.#end({ code, reason: reason.toString() }));
    channel.outgoing.consume({ onItem: (message) => this.#send(message), onClose: () => this.close(1000, '') });
    this.#isLate = createLateness(pingMs);
    this.#heartbeat = setInterval(() => this.#beat(), pingMs);
  }

  /** Closes the socket; the listener bounds how long the page may take to agree. */
  close(code: number, reason: string): void {
    this.#frames.flush();
    this.#options.socket.close(code, reason);
  }

  /** Cuts the connection without a farewell. */
  terminate(): void {
    this.#options.socket.terminate();
  }

  /** True if the page shows a sign of life in time; false if it does not, or the connection ends meanwhile. */
  isAlive(timeoutMs: number): Promise<boolean> {
    const { socket } = this.#options;
    return new Promise((resolve) => {
      const finish = (alive: boolean): void => {
        clearTimeout(timer);
        socket.off('pong', onSign).off('message', onSign).off('close', onClose);
        resolve(alive);
      };
      const onSign = (): void => finish(true);
      const onClose = (): void => finish(false);
      const timer = setTimeout(finish, timeoutMs, false);
      if (this.#ended || socket.readyState !== socket.OPEN) return finish(false);
      // A frame is a sign as well: the pong of a page that floods comes behind its flood.
      socket.once('pong', onSign).once('message', onSign).once('close', onClose);
      socket.ping();
    });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#answered = true;
    this.#brake();
    const { length: bytes } = data;
    if (isBinary)
      return this.#faults.report('Skipped a binary frame of the page: one JSON-RPC message per text frame is wanted.', { bytes });
    try {
      this.#options.channel.incoming.send(parseFrame(data));
    } catch (error) {
      this.#faults.report('Skipped a frame of the page.', { error: messageOf(error), bytes });
    }
  }

  /** Throws `not_connected` for a page that is leaving, `limit_reached` for one that does not read, and what `printFrame` throws. */
  #send(message: unknown): void {
    const { socket, maxBufferedBytes } = this.#options;
    if (socket.readyState !== socket.OPEN) {
      // It is leaving. The calls that it has seen end; this one, which it has not, ends before them, as what can be sent again.
      queueMicrotask(() => this.#end({ code: 1005, reason: 'it is closing' }));
      throw new BridgeError('not_connected', 'The notebook page is leaving.');
    }
    const waiting = socket.bufferedAmount + this.#frames.waiting;
    if (waiting > maxBufferedBytes) throw new BridgeError('limit_reached', `The page does not read: ${waiting} bytes wait to be sent.`);
    this.#frames.send(printFrame(message));
    if (isJsonObject(message) && message.id !== undefined && message.method !== undefined) this.#budget.earn();
  }

  #brake(): void {
    const pauseMs = this.#budget.take();
    const { socket } = this.#options;
    // What a paused socket has read already still comes.
    if (pauseMs === 0 || socket.isPaused) return;
    this.#faults.report('The page floods: it is read more slowly.', { pauseMs: Math.round(pauseMs) });
    socket.pause();
    setTimeout(() => socket.resume(), pauseMs).unref();
  }

  #beat(): void {
    const { socket, logger, pingMs } = this.#options;
    const isLate = this.#isLate();
    // A paused socket cannot show us its pong; a page that floods is alive.
    if (socket.isPaused) return;
    if (!this.#answered && !isLate) {
      logger.warn('The page did not answer a ping in time; its connection is cut.', { pingMs });
      return socket.terminate();
    }
    this.#answered = false;
    socket.ping();
  }

  #end({ code, reason }: { code: number; reason: string }): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#heartbeat);
    const { channel, logger, onClose } = this.#options;
    logger.info('The page went away.', { code, reason });
    // First the slot, so that callers whose calls fail find it already without a page.
    onClose();
    const why = code === 1009 ? ' (it sent a message above the limit)' : '';
    channel.incoming.close(new BridgeError('page_gone', `The notebook page went away${why}.`, { data: { closeCode: code } }));
    channel.outgoing.close();
  }
}

/** The close code that fits an error of the socket: what was received was too large, or broke the WebSocket protocol. */
function reasonOf(error: Error): { code: number; reason: string } {
  const isTooLarge = 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
  return { code: isTooLarge ? 1009 : 1002, reason: error.message };
}

/** Frames that a page may send unasked: this many at once, refilled by as many a second. */
export const unaskedFramesPerSecond = 20_000;

const framesPerMs = unaskedFramesPerSecond / 1000;
/** Pauses shorter than this cost more than they save. Milliseconds. */
const shortestPauseMs = 50;

/** Detects when a page floods. Every request of ours earns it one frame, its answer; all others draw on what refills with time. */
export class FrameBudget {
  readonly #now: () => number;
  #left = unaskedFramesPerSecond;
  #filledAt: number;
  #earned = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#filledAt = now();
  }

  earn(): void {
    this.#earned++;
  }

  /** Counts a frame. Returns how long to stop reading, in milliseconds; 0 while there is no need. */
  take(): number {
    if (this.#earned > 0) {
      this.#earned--;
      return 0;
    }
    const now = this.#now();
    const refilled = (now - this.#filledAt) * framesPerMs;
    this.#left = Math.min(unaskedFramesPerSecond, this.#left + refilled) - 1;
    this.#filledAt = now;
    return this.#left >= 0 ? 0 : Math.max(shortestPauseMs, -this.#left / framesPerMs);
  }
}

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
