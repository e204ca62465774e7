import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../core/principal.js';
import type { Accepted } from './http-accept.js';

/** Bounds of the MCP door over HTTP. */
export interface McpHttpLimits {
  /** Legacy agents at once; one more is answered with 503. Default 256. */
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
}

export const defaultHttpLimits: Readonly<McpHttpLimits> = {
  maxSessions: 256,
  sessionIdleMs: 30 * 60_000,
  maxInFlight: 1024,
  maxListens: 1024,
  keepAliveMs: 25_000,
  maxUnsentBytes: 4 * 1024 * 1024,
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
