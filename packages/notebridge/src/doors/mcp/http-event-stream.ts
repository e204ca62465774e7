import type { ServerResponse } from 'node:http';
import { printMessage } from '../../core/wire.js';
import { securityHeaders } from '../http/raw-answer.js';

export interface HttpEventStreamOptions {
  /** Names and values in turn. */
  headers: readonly string[];
  /** How often a comment says that the stream lives, milliseconds. */
  keepAliveMs: number;
  /** Bytes that may wait for a reader who is slow. */
  maxUnsentBytes: number;
}

const streamHeaders = [...securityHeaders, 'content-type', 'text/event-stream; charset=utf-8', 'x-accel-buffering', 'no'];

/** Messages to an agent as server-sent events, one for each. Opened at once, so that the agent sees that it is there. */
export class HttpEventStream {
  readonly #response: ServerResponse;
  readonly #maxUnsentBytes: number;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(response: ServerResponse, { headers, keepAliveMs, maxUnsentBytes }: HttpEventStreamOptions) {
    this.#response = response;
    this.#maxUnsentBytes = maxUnsentBytes;
    response.writeHead(200, [...streamHeaders, ...headers]);
    response.flushHeaders();
    this.#keepAlive = setInterval(() => this.#write(': keep-alive\n\n'), keepAliveMs);
    this.#keepAlive.unref();
    response.once('close', () => clearInterval(this.#keepAlive));
  }

  /** False when it has ended, by us or by the agent. */
  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  /** True if so much waits for the reader that nothing should be added. */
  get isFull(): boolean {
    return this.#response.writableLength > this.#maxUnsentBytes;
  }

  /** Sends a message, however much waits. Throws `message_too_deep`. */
  send(message: unknown): void {
    this.#write(`event: message\ndata: ${printMessage(message)}\n\n`);
  }

  /** Ends it after what was sent. Ending twice is harmless. */
  end(): void {
    clearInterval(this.#keepAlive);
    if (this.isOpen) this.#response.end();
  }

  /** Cuts the connection: what waits is dropped. */
  cut(): void {
    this.#response.destroy();
  }

  #write(text: string): void {
    if (this.isOpen) this.#response.write(text);
  }
}
