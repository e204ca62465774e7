import { createLateness } from '@notebridge/protocol/util/late-beat';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { RawData, WebSocket } from 'ws';
import { KernelError } from '../kernel/kernel-error.js';
import { NotebookError } from '../model/errors.js';
import { HostError } from '../session/host-error.js';
import type { HostMessage, ViewerAction } from '../viewer/protocol.js';
import { BadMessage, parseViewerMessage } from './viewer-request.js';

export interface ViewerLinkOptions {
  perform: (action: ViewerAction) => Promise<unknown>;
  onClose: () => void;
  logger: Logger;
  limits?: Partial<LinkLimits> | undefined;
}

export interface LinkLimits {
  /** Bytes beside the first message that wait for a slow window before it is dropped; it starts over then. Default 64 MiB. */
  maxBufferedBytes: number;
  /** A window that does not answer a ping until the next one is dropped. Default 20 000. */
  pingMs: number;
  /** Requests a second; a window that sends more is read more slowly. Default 2000, and twice as many at once. */
  requestsPerSecond: number;
  /** Requests without an answer. Default 20 000: all cells of a large notebook may be run at once. */
  maxInFlight: number;
}

/** Why a window was closed: `closeCodes.slow` for the one that does not take what it is sent. */
const closeCodes = { ended: 1001, unreadable: 1008, slow: 4008 } as const;

const defaults: LinkLimits = { maxBufferedBytes: 64 * 1024 * 1024, pingMs: 20_000, requestsPerSecond: 2000, maxInFlight: 20_000 };
const maxBadMessages = 100;
const closeTimeoutMs = 1000;

/** One window: its requests are carried out one after the other as they come, and answered when they are done. */
export class ViewerLink {
  readonly #socket: WebSocket;
  readonly #options: ViewerLinkOptions;
  readonly #limits: LinkLimits;
  readonly #ping: NodeJS.Timeout;
  readonly #isLate: () => boolean;
  #isAlive = true;
  #isClosing = false;
  #inFlight = 0;
  #maxBuffered: number | undefined;
  #badMessages = 0;
  #budget: number;
  #filledAt = performance.now();
  #pause: NodeJS.Timeout | undefined;

  constructor(socket: WebSocket, options: ViewerLinkOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#limits = { ...defaults, ...options.limits };
    this.#budget = 2 * this.#limits.requestsPerSecond;
    this.#isLate = createLateness(this.#limits.pingMs);
    this.#ping = setInterval(() => this.#checkAlive(), this.#limits.pingMs).unref();
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('error', (error) => options.logger.debug('A window failed.', { error: error.message }));
    socket.once('close', () => this.#end());
  }

  send(message: HostMessage): void {
    this.sendText(JSON.stringify(message));
  }

  /** For a message that goes to many windows, and is printed once. */
  sendText(text: string): void {
    if (this.#isClosing) return;
    // The first message is the whole notebook, which must always pass, and may take a while to do so.
    this.#maxBuffered ??= this.#limits.maxBufferedBytes + Buffer.byteLength(text);
    if (this.#socket.bufferedAmount > this.#maxBuffered) return this.#dropSlow();
    this.#socket.send(text, (error) => error && this.#options.logger.debug('A message did not reach a window.', { error: error.message }));
  }

  /** Resolves when the connection is gone, whether or not the window agrees. */
  close(code: number = closeCodes.ended, reason = 'The notebook was closed'): Promise<void> {
    this.#isClosing = true;
    if (this.#socket.readyState === this.#socket.CLOSED) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#socket.terminate(), closeTimeoutMs);
      this.#socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      // A paused socket would never receive the closing handshake.
      this.#socket.resume();
      this.#socket.close(code, reason);
    });
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isClosing) return;
    this.#spend();
    try {
      if (isBinary) throw new BadMessage(0, 'it is no text');
      const { id, action } = parseViewerMessage(String(data));
      if (this.#inFlight >= this.#limits.maxInFlight) throw new BadMessage(id, `${this.#inFlight} requests wait already`);
      void this.#answer(id, action);
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error;
      this.#refuse(error.id, error);
      if (++this.#badMessages >= maxBadMessages) void this.close(closeCodes.unreadable, 'Too many messages were not understood');
    }
  }

  async #answer(id: number, action: ViewerAction): Promise<void> {
    this.#inFlight++;
    try {
      const value = await this.#options.perform(action);
      this.send({ type: 'done', id, ...(value === undefined ? {} : { value }) });
    } catch (error) {
      this.#refuse(id, error);
    } finally {
      this.#inFlight--;
    }
  }

  /** What is not made for people stays in the log. */
  #refuse(id: number, error: unknown): void {
    const isForPeople = error instanceof NotebookError || error instanceof HostError || error instanceof KernelError;
    if (isForPeople) return this.send({ type: 'failed', id, code: error.code, message: error.message });
    this.#options.logger.error('A request of a window failed.', {
      error: messageOf(error),
      stack: error instanceof Error ? error.stack : '',
    });
    this.send({ type: 'failed', id, code: 'internal', message: 'That failed because of an internal error; the log says more.' });
  }

  /** Reads a flood as slowly as it is allowed to come; the sender's own network holds the rest back. */
  #spend(): void {
    const { requestsPerSecond } = this.#limits;
    const now = performance.now();
    this.#budget = Math.min(2 * requestsPerSecond, this.#budget + ((now - this.#filledAt) / 1000) * requestsPerSecond) - 1;
    this.#filledAt = now;
    if (this.#budget >= 0 || this.#pause) return;
    this.#socket.pause();
    this.#pause = setTimeout(
      () => {
        this.#pause = undefined;
        this.#socket.resume();
      },
      Math.max(50, (-this.#budget / requestsPerSecond) * 1000),
    ).unref();
  }

  #checkAlive(): void {
    const isLate = this.#isLate();
    // What is held back here cannot answer.
    if (this.#pause) return;
    if (!this.#isAlive && !isLate) return this.#socket.terminate();
    this.#isAlive = false;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  #dropSlow(): void {
    this.#options.logger.info('A window was dropped because it does not take what it is sent.');
    void this.close(closeCodes.slow, 'The window is too slow; it begins anew');
  }

  #end(): void {
    this.#isClosing = true;
    clearInterval(this.#ping);
    clearTimeout(this.#pause);
    this.#options.onClose();
  }
}
