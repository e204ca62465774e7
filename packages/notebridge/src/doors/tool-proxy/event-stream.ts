import type { ServerResponse } from 'node:http';
import { printMessage } from '../../core/wire.js';
import type { Printed } from '../../rpc/long-strings.js';
import type { JsonObject } from '../../util/json.js';
import { securityHeaders } from '../http/raw-answer.js';

export type StreamFormat = 'ndjson' | 'sse';

/** Unsent bytes past which events of a tool are left out: a slow reader must not fill our memory. */
const maxUnsentBytes = 256 * 1024;

const beginOfResult = '{"event":"result",';

/**
 * The events of one call, then its answer: one JSON object per line, or server-sent events with the same objects. The headers
 * leave with the first event, so that a call that ends before may still be answered with a status.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #format: StreamFormat;
  readonly #headers: readonly string[];
  readonly #heartbeat: NodeJS.Timeout;

  constructor(response: ServerResponse, format: StreamFormat, options: { headers: readonly string[]; heartbeatMs: number }) {
    this.#response = response;
    this.#format = format;
    this.#headers = options.headers;
    this.#heartbeat = setInterval(() => this.#write('heartbeat', '{"event":"heartbeat"}'), options.heartbeatMs);
    this.#heartbeat.unref();
  }

  /** True once something was sent, and with it the status 200. */
  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** Passes on what a tool says while it runs; anything but progress and log lines means nothing to code. */
  send(method: string, params: JsonObject): void {
    const event = method === 'notifications/progress' ? 'progress' : method === 'notifications/message' ? 'log' : undefined;
    if (event === undefined || this.#response.writableLength > maxUnsentBytes) return;
    const { progressToken: _, _meta, event: __, ...rest } = params;
    this.#write(event, printMessage({ event, ...rest }));
  }

  /** The last event: the answer, as it would have been the body. */
  end(answer: Printed): void {
    this.close();
    // The pieces of an answer begin with its brace, like its text.
    if (typeof answer === 'string') this.#write('result', `${beginOfResult}${answer.slice(1)}`);
    else this.#write('result', [Buffer.from(beginOfResult), ...answer.map((piece, index) => (index === 0 ? piece.subarray(1) : piece))]);
    this.#response.end();
  }

  /** Sends nothing more. Closing twice is harmless. */
  close(): void {
    clearInterval(this.#heartbeat);
  }

  #write(event: string, text: Printed): void {
    if (this.#response.destroyed || this.#response.writableEnded) return this.close();
    if (!this.#response.headersSent) this.#begin();
    const [before, behind] = this.#format === 'ndjson' ? ['', '\n'] : [`event: ${event}\ndata: `, '\n\n'];
    if (typeof text === 'string') this.#response.write(`${before}${text}${behind}`);
    else for (const piece of [Buffer.from(before), ...text, Buffer.from(behind)]) this.#response.write(piece);
  }

  #begin(): void {
    const type = this.#format === 'ndjson' ? 'application/x-ndjson' : 'text/event-stream';
    this.#response.writeHead(200, [
      ...securityHeaders,
      'content-type',
      `${type}; charset=utf-8`,
      'x-accel-buffering',
      'no',
      ...this.#headers,
    ]);
  }
}

/** The stream that an `Accept` header asks for; undefined for a plain answer. */
export function streamFormatOf(accept: string | undefined): StreamFormat | undefined {
  if (accept === undefined) return undefined;
  const types = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  if (types.includes('application/x-ndjson')) return 'ndjson';
  return types.includes('text/event-stream') ? 'sse' : undefined;
}
