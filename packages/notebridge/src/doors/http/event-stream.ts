import type { ServerResponse } from 'node:http';
import type { Printed } from '@notebridge/protocol/core/wire';
import { securityHeaders } from './http-context.js';

/** One JSON text per line, or server-sent events with the same texts. */
export type StreamFormat = 'ndjson' | 'sse';

export interface EventStreamOptions {
  /** Default `sse`. */
  format?: StreamFormat | undefined;
  /** Names and values in turn. */
  headers: readonly string[];
  /** Interval of heartbeats, milliseconds. */
  heartbeatMs: number;
  /** The event of a heartbeat. Default: a comment, which only `sse` has. */
  heartbeat?: { event: string; data: string } | undefined;
  /** Bytes that may wait for a reader who is slow. */
  maxUnsentBytes: number;
}

const contentTypes = { ndjson: 'application/x-ndjson; charset=utf-8', sse: 'text/event-stream; charset=utf-8' };

/** Events as the body of an answer. The headers leave with the first event, or when it is opened. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #options: EventStreamOptions;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(response: ServerResponse, options: EventStreamOptions) {
    const { heartbeat, heartbeatMs } = options;
    this.#response = response;
    this.#options = options;
    this.#heartbeat = setInterval(() => {
      if (heartbeat === undefined) this.#write(': keep-alive\n\n');
      else this.send(heartbeat.event, heartbeat.data);
    }, heartbeatMs);
    this.#heartbeat.unref();
    response.once('close', () => this.close());
  }

  /** True once something was sent, and with it the status 200. */
  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** False when it has ended, by us or by the reader. */
  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  /** True if so much waits for the reader that nothing should be added. */
  get isFull(): boolean {
    return this.#response.writableLength > this.#options.maxUnsentBytes;
  }

  /** Sends the headers at once, so that the reader sees that the stream is there. */
  open(): void {
    this.#begin();
    this.#response.flushHeaders();
  }

  /** Sends an event, however much waits. `data`: one JSON text. `id`: what a reader that comes back names. */
  send(event: string, data: Printed, id?: string): void {
    if (!this.isOpen) return this.close();
    const named = id === undefined ? '' : `id: ${id}\n`;
    const [before, behind] = this.#options.format === 'ndjson' ? ['', '\n'] : [`${named}event: ${event}\ndata: `, '\n\n'];
    if (typeof data === 'string') return this.#write(`${before}${data}${behind}`);
    for (const piece of [Buffer.from(before), ...data, Buffer.from(behind)]) this.#write(piece);
  }

  /** Sends an event that has no data: only with which id a reader comes back, and after how long. Only for `sse`. */
  prime(id: string, retryMs: number): void {
    this.#write(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`);
  }

  /** Ends it after what was sent. Ending twice is harmless. */
  end(): void {
    this.close();
    if (this.isOpen) this.#response.end();
  }

  /** Cuts the connection, if it has not ended: what waits is dropped. */
  cut(): void {
    if (!this.#response.writableFinished) this.#response.destroy();
  }

  /** Stops the heartbeats. Closing twice is harmless. */
  close(): void {
    clearInterval(this.#heartbeat);
  }

  #write(chunk: string | Buffer): void {
    if (!this.isOpen) return;
    if (!this.#response.headersSent) this.#begin();
    this.#response.write(chunk);
  }

  #begin(): void {
    const { format = 'sse', headers } = this.#options;
    const type = ['content-type', contentTypes[format], 'x-accel-buffering', 'no'];
    this.#response.writeHead(200, [...securityHeaders, ...type, ...headers]);
  }
}

/** The media ranges of an `Accept` header, in lower case and without parameters; undefined if there is no header. */
export function mediaRangesOf(header: string | undefined): string[] | undefined {
  return header?.split(',').map((range) => (range.split(';', 1)[0] ?? '').trim().toLowerCase());
}
