import type { ServerResponse } from 'node:http';
import { printFrameInPieces } from '../../rpc/frames.js';
import type { EventStream } from '../http/event-stream.js';
import { sendEmpty, sendJson } from '../http/raw-answer.js';
import type { Accepted } from './http-accept.js';
import { type HttpEventStreamOptions, openEventStream, sendMessage } from './http-event-stream.js';

export interface HttpExchangeOptions extends HttpEventStreamOptions {
  response: ServerResponse;
  accepted: Accepted;
}

/**
 * One POST that waits for an answer. If the answer is the first thing to be sent it is plain JSON; if a notification comes
 * first, or nothing for so long that a client might give up, it becomes a stream that ends with the answer.
 */
export class HttpExchange {
  readonly #options: HttpExchangeOptions;
  readonly #response: ServerResponse;
  readonly #patience: NodeJS.Timeout | undefined;
  #stream: EventStream | undefined;

  constructor(options: HttpExchangeOptions) {
    this.#options = options;
    this.#response = options.response;
    if (options.accepted.eventStream) this.#patience = setTimeout(() => this.#open(), options.keepAliveMs).unref();
    this.#response.once('close', () => clearTimeout(this.#patience));
  }

  /** False once it was answered, or the agent hung up. */
  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  /** True if notifications can be sent before the answer. */
  get takesNotifications(): boolean {
    return this.#options.accepted.eventStream && this.isOpen;
  }

  /** True if a reader is so slow that nothing should be added but the answer. */
  get isFull(): boolean {
    return this.#stream?.isFull === true;
  }

  /** Sends a notification ahead of the answer. Only if `takesNotifications`. */
  notify(message: unknown): void {
    const stream = this.#open();
    if (stream !== undefined) sendMessage(stream, message);
  }

  /** Ends it with the answer. `status`: for an answer that is plain JSON. Throws `message_too_deep`, and can be answered again. */
  answer(message: unknown, status = 200): void {
    const { accepted, headers } = this.#options;
    const stream = accepted.json ? this.#stream : this.#open();
    if (stream === undefined) sendJson(this.#response, status, printFrameInPieces(message), headers);
    else {
      sendMessage(stream, message);
      stream.end();
    }
  }

  /** Ends it without an answer: what was asked has been cancelled. */
  finish(): void {
    if (this.#stream !== undefined) return this.#stream.end();
    clearTimeout(this.#patience);
    sendEmpty(this.#response, 202, this.#options.headers);
  }

  /** Cuts the connection. */
  cut(): void {
    this.#response.destroy();
  }

  #open(): EventStream | undefined {
    clearTimeout(this.#patience);
    if (this.#stream === undefined && this.isOpen) this.#stream = openEventStream(this.#response, this.#options);
    return this.#stream;
  }
}
