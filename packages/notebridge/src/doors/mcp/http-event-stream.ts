import type { ServerResponse } from 'node:http';
import { printFrameInPieces } from '../../rpc/frames.js';
import { EventStream } from '../http/event-stream.js';

export interface HttpEventStreamOptions {
  /** Names and values in turn. */
  headers: readonly string[];
  /** Interval of heartbeat comments, milliseconds. */
  keepAliveMs: number;
  /** Bytes that may wait for a reader who is slow. */
  maxUnsentBytes: number;
}

/** A stream of messages to an agent, opened at once, so that the agent sees that it is there. */
export function openEventStream(
  response: ServerResponse,
  { headers, keepAliveMs: heartbeatMs, maxUnsentBytes }: HttpEventStreamOptions,
): EventStream {
  const stream = new EventStream(response, { headers, heartbeatMs, maxUnsentBytes });
  stream.open();
  return stream;
}

/** Sends a message, however much waits. Throws `message_too_deep`. */
export function sendMessage(stream: EventStream, message: unknown): void {
  stream.send('message', printFrameInPieces(message));
}
