import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '@notebridge/protocol/core/principal';
import { mediaRangesOf } from '../http/event-stream.js';

/** Bounds and times of the MCP door over HTTP. */
export interface McpHttpLimits {
  /** Legacy agents at once; one more is answered with 503. Default 1024. */
  maxSessions: number;
  /** How long a session lives without a request and without an open stream, milliseconds. Default 30 min. */
  sessionIdleMs: number;
  /** Requests that one legacy agent, and that all modern ones together, may have running. Default 1024. */
  maxInFlight: number;
  /** Modern `subscriptions/listen` streams at once. Default 1024. */
  maxListens: number;
  /** Interval of heartbeats on an open stream, and after what time a silent call becomes one. Milliseconds, default 25 s. */
  keepAliveMs: number;
  /** Bytes that may wait for a slow reader: past it a stream is cut, and progress is left out. Default 4 MiB. */
  maxUnsentBytes: number;
  /** Events of a legacy session's streams that are kept, in case a stream breaks: so many. Default 1000. */
  maxSentEvents: number;
  /** … of so many bytes. Default 16 MiB. */
  maxSentBytes: number;
  /** … for so long, milliseconds. Default 5 min. */
  sentKeptMs: number;
  /** … and of all sessions together so many bytes. Default 64 MiB. */
  maxAllSentBytes: number;
  /** How long an agent should wait before it resumes a stream, milliseconds. Default 1 s. */
  retryMs: number;
  /** A stream of an agent of 2025-11-25 is closed after so long, to be resumed. Milliseconds; 0, the default, for never. */
  pollAfterMs: number;
  /** How long running calls may still end by themselves when the door is closed, milliseconds. Default 1.2 s. */
  lastAnswersMs: number;
}

export const defaultHttpLimits: Readonly<McpHttpLimits> = {
  maxSessions: 1024,
  sessionIdleMs: 30 * 60_000,
  maxInFlight: 1024,
  maxListens: 1024,
  keepAliveMs: 25_000,
  maxUnsentBytes: 4 * 1024 * 1024,
  maxSentEvents: 1000,
  maxSentBytes: 16 * 1024 * 1024,
  sentKeptMs: 5 * 60_000,
  maxAllSentBytes: 64 * 1024 * 1024,
  retryMs: 1000,
  pollAfterMs: 0,
  lastAnswersMs: 1200,
};

/** One HTTP request of an agent whose right to call has been proved. */
export interface HttpCall {
  request: IncomingMessage;
  response: ServerResponse;
  principal: Principal;
  accepted: Readonly<Accepted>;
  /** Of every answer. Names and values in turn. */
  headers: readonly string[];
}

/** A header that may stand once; undefined if it does not stand at all. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : value?.join(', ');
}

/** Which forms of an answer an agent takes. */
export interface Accepted {
  json: boolean;
  eventStream: boolean;
}

/** Agents send the same one with every request. */
let last: { header: string | undefined; accepted: Readonly<Accepted> } | undefined;

/** What an `Accept` header takes; none at all takes everything, as HTTP has it. */
export function parseAccept(header: string | undefined): Readonly<Accepted> {
  if (last === undefined || last.header !== header) last = { header, accepted: read(header) };
  return last.accepted;
}

function read(header: string | undefined): Accepted {
  const ranges = mediaRangesOf(header) ?? ['*/*'];
  const takes = (...names: string[]): boolean => names.some((name) => ranges.includes(name));
  return { json: takes('application/json', 'application/*', '*/*'), eventStream: takes('text/event-stream', 'text/*', '*/*') };
}
