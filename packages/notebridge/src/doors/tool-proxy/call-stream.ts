import type { ServerResponse } from 'node:http';
import { type Printed, printMessage } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import { EventStream, mediaRangesOf, type StreamFormat } from '../http/event-stream.js';

/** Unsent bytes past which events of a tool are left out: a slow reader must not fill our memory. */
const maxUnsentBytes = 256 * 1024;

const beginOfResult = '{"event":"result",';
const heartbeat = { event: 'heartbeat', data: '{"event":"heartbeat"}' };

/**
 * The events of one call, then its answer. The headers leave with the first event, so that a call that ends before may still be
 * answered with a status.
 */
export class CallStream {
  readonly #stream: EventStream;

  constructor(response: ServerResponse, format: StreamFormat, options: { headers: readonly string[]; heartbeatMs: number }) {
    this.#stream = new EventStream(response, { format, ...options, heartbeat, maxUnsentBytes });
  }

  /** True once something was sent, and with it the status 200. */
  get hasBegun(): boolean {
    return this.#stream.hasBegun;
  }

  /** Passes on what a tool says while it runs. */
  send(method: string, params: JsonObject): void {
    const said = toCallEvent(method, params);
    if (said !== undefined && !this.#stream.isFull) this.#stream.send(said.event, said.text);
  }

  /** The last event: the answer, as it would have been the body. */
  end(answer: Printed): void {
    // The pieces of an answer begin with its brace, like its text.
    if (typeof answer === 'string') this.#stream.send('result', `${beginOfResult}${answer.slice(1)}`);
    else
      this.#stream.send('result', [Buffer.from(beginOfResult), ...answer.map((piece, index) => (index === 0 ? piece.subarray(1) : piece))]);
    this.#stream.end();
  }

  /** Sends nothing more. Closing twice is harmless. */
  close(): void {
    this.#stream.close();
  }
}

/** What a tool says while it runs, as an event; anything but progress and log lines means nothing to code. */
export function toCallEvent(method: string, params: JsonObject): { event: string; text: string } | undefined {
  const event = method === 'notifications/progress' ? 'progress' : method === 'notifications/message' ? 'log' : undefined;
  if (event === undefined) return undefined;
  const { progressToken: _, _meta, event: __, ...rest } = params;
  return { event, text: printMessage({ event, ...rest }) };
}

/** The stream that an `Accept` header asks for by name; undefined for a plain answer. */
export function streamFormatOf(accept: string | undefined): StreamFormat | undefined {
  const types = mediaRangesOf(accept);
  if (types?.includes('application/x-ndjson')) return 'ndjson';
  return types?.includes('text/event-stream') ? 'sse' : undefined;
}
