import type { ServerResponse } from 'node:http';
import { printFrameInPieces } from '@notebridge/protocol/rpc/messages';
import { EventStream } from '../http/event-stream.js';

export interface HttpEventStreamOptions {
  /** Names and values in turn. */
  headers: readonly string[];
  /** Interval of heartbeat comments, milliseconds. */
  keepAliveMs: number;
  /** Bytes that may wait for a reader who is slow. */
  maxUnsentBytes: number;
}

/** Messages on their way to an agent. */
export interface AnswerStream {
  /** True while somebody is there to read it. */
  readonly isOpen: boolean;
  /** True if what is sent reaches the agent, now or when it comes back. */
  readonly takesMore: boolean;
  /** True if so much waits for the reader that nothing should be added. */
  readonly isFull: boolean;
  /** Sends a message, however much waits. Throws `message_too_deep`. */
  send(message: unknown): void;
  /** Ends it after what was sent. */
  end(): void;
  /** Calls back when somebody who was away at its end has come back, or would have. Left out: nobody does. */
  awaitAgent?(done: () => void): void;
}

/** A stream that ends with its connection, opened at once, so that the agent sees that it is there. */
export function openEventStream(
  response: ServerResponse,
  { headers, keepAliveMs: heartbeatMs, maxUnsentBytes }: HttpEventStreamOptions,
): AnswerStream {
  const stream = new EventStream(response, { headers, heartbeatMs, maxUnsentBytes });
  stream.open();
  return {
    get isOpen() {
      return stream.isOpen;
    },
    get takesMore() {
      return stream.isOpen;
    },
    get isFull() {
      return stream.isFull;
    },
    send: (message) => stream.send('message', printFrameInPieces(message)),
    end: () => stream.end(),
  };
}
