import type { Duplex } from 'node:stream';
import { isJsonObject } from '@notebridge/kit/json';
import { createLateness } from '@notebridge/kit/late-beat';
import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import type { WebSocket } from 'ws';
import { BridgeError } from '../../core/errors.js';
import { FaultLog } from '../../net/fault-log.js';
import { parseFrame, printFrame } from '../../rpc/frames.js';
import type { Channel } from '../../rpc/message-stream.js';
import { FrameBudget } from './frame-budget.js';
import { TextFrames } from './text-frames.js';

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
