import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { BridgeError } from '../../core/errors.js';
import type { Logger } from '../../core/logger.js';
import type { Channel } from '../../core/message-stream.js';
import { parseMessage, printMessage } from '../../core/wire.js';

export interface PageConnectionOptions {
  socket: WebSocket;
  /** The stream below the socket: corked while one turn of the loop sends several messages. */
  stream: Duplex;
  channel: Channel;
  logger: Logger;
  /** Time between pings, and time to answer one. Milliseconds. */
  pingMs: number;
  /** Bytes that may wait to be sent before a message is refused. */
  maxBufferedBytes: number;
  onClose: () => void;
}

/** Frames that a page may send unasked: this many at once, refilled by as many a second. Beyond, its socket is not read. */
const unaskedBurst = 2000;

/**
 * One WebSocket connection of a page: frames in and out of a channel, a heartbeat, and a brake. Every request that we send
 * earns the page one frame; all others draw on a bucket. An empty bucket stops reading, so that a flood fills the page's own
 * buffers and nothing is lost.
 */
export class PageConnection {
  readonly #options: PageConnectionOptions;
  readonly #heartbeat: NodeJS.Timeout;
  #answered = true;
  #corked = false;
  #earned = 0;
  #bucket = unaskedBurst;
  #closed = false;

  constructor(options: PageConnectionOptions) {
    this.#options = options;
    const { socket, channel, pingMs } = options;
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.on('pong', () => {
      this.#answered = true;
    });
    socket.on('error', (error) => options.logger.warn('The page connection failed.', { error: error.message }));
    socket.on('close', (code, reason) => this.#end(code, reason.toString()));
    channel.outgoing.consume({ onItem: (message) => this.#send(message), onClose: () => socket.close(1000) });
    this.#heartbeat = setInterval(() => this.#beat(), pingMs);
  }

  /** Closes the socket; one that does not answer the close within 2 s is cut by `ws` later, so it is cut here. */
  close(code: number, reason: string): void {
    this.#options.socket.close(code, reason);
    setTimeout(() => this.#options.socket.terminate(), 2000).unref();
  }

  /** Cuts the connection without a farewell. */
  terminate(): void {
    this.#options.socket.terminate();
  }

  /** True if the page answers a ping in time; false if it does not, or the connection ends meanwhile. */
  isAlive(timeoutMs: number): Promise<boolean> {
    const { socket } = this.#options;
    return new Promise((resolve) => {
      const finish = (alive: boolean): void => {
        clearTimeout(timer);
        socket.off('pong', onPong).off('close', onClose);
        resolve(alive);
      };
      const onPong = (): void => finish(true);
      const onClose = (): void => finish(false);
      const timer = setTimeout(finish, timeoutMs, false);
      if (socket.readyState !== socket.OPEN) return finish(false);
      socket.once('pong', onPong).once('close', onClose);
      socket.ping();
    });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#answered = true;
    this.#brake();
    const { channel, logger } = this.#options;
    if (isBinary)
      return logger.warn('Skipped a binary frame of the page: one JSON-RPC message per text frame is wanted.', { bytes: data.length });
    let message: unknown;
    try {
      message = parseMessage(data.toString());
    } catch (error) {
      return logger.warn('Skipped a frame of the page.', { error: String(error), bytes: data.length });
    }
    channel.incoming.send(message);
  }

  #send(message: unknown): void {
    const { socket, stream, maxBufferedBytes } = this.#options;
    if (socket.bufferedAmount > maxBufferedBytes) {
      throw new BridgeError('limit_reached', `The page does not read: ${socket.bufferedAmount} bytes wait to be sent.`);
    }
    if (!this.#corked) {
      this.#corked = true;
      stream.cork();
      queueMicrotask(() => {
        this.#corked = false;
        stream.uncork();
      });
    }
    socket.send(printMessage(message));
    this.#earned++;
  }

  #brake(): void {
    if (this.#earned > 0) {
      this.#earned--;
      return;
    }
    if (--this.#bucket > 0) return;
    const { socket, logger } = this.#options;
    logger.warn('The page floods: it is read more slowly.', { framesPerSecond: unaskedBurst });
    socket.pause();
    setTimeout(() => {
      this.#bucket = unaskedBurst;
      if (!this.#closed) socket.resume();
    }, 1000).unref();
  }

  #beat(): void {
    // A paused socket cannot show us its pong.
    if (this.#options.socket.isPaused) return;
    this.#bucket = unaskedBurst;
    if (!this.#answered) {
      this.#options.logger.warn('The page did not answer a ping in time; its connection is cut.', { pingMs: this.#options.pingMs });
      return this.#options.socket.terminate();
    }
    this.#answered = false;
    this.#options.socket.ping();
  }

  #end(code: number, reason: string): void {
    this.#closed = true;
    clearInterval(this.#heartbeat);
    const { channel, logger, onClose } = this.#options;
    logger.info('The page went away.', { code, reason });
    // First the slot, so that whoever is told that calls failed finds it already without a page.
    onClose();
    const why = code === 1009 ? ' (it sent a message above the limit)' : '';
    channel.incoming.close(new BridgeError('page_gone', `The notebook page went away${why}.`, { data: { closeCode: code } }));
    channel.outgoing.close();
  }
}
