import type { ServerResponse } from 'node:http';
import { byteLengthOf, type Printed } from '@notebridge/protocol/core/wire';

/** On every answer: what a browser must not do with it. Names and values in turn. */
export const securityHeaders: readonly string[] = [
  'x-content-type-options',
  'nosniff',
  'cache-control',
  'no-store',
  'cross-origin-resource-policy',
  'same-origin',
  'content-security-policy',
  "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy',
  'no-referrer',
];

const jsonHeaders = [...securityHeaders, 'content-type', 'application/json; charset=utf-8', 'content-length'];

const longText = 65_536;

/** So much of a request that was refused is read away at most, and for so long: bytes, and milliseconds. As large as a body may be by default. */
const mostOfRest = 64 * 1024 * 1024;
const restMs = 5000;

/** Responds with JSON. `headers`: names and values in turn. Nothing happens if the caller has left. */
export function sendJson(response: ServerResponse, status: number, text: Printed, headers: readonly string[]): void {
  if (response.destroyed || response.headersSent) return;
  if (typeof text !== 'string') return sendPieces(response, status, text, headers);
  // A short text leaves in one piece with its head; a long one would be looked through twice, to count and to encode it.
  const body = text.length < longText ? text : Buffer.from(text);
  const all = [...jsonHeaders, String(Buffer.byteLength(body))];
  for (const part of headers) all.push(part);
  response.writeHead(status, all);
  const isLast = !response.shouldKeepAlive || all.includes('connection');
  if (response.req.complete || !isLast) response.end(body);
  else endAfterRequest(response, body);
}

/**
 * Sends the last answer of a connection whose request has not come whole. Closed at once, a caller that still sends would see that, and never
 * the answer: so the rest is read away first, as Node does where the connection stays.
 */
function endAfterRequest(response: ServerResponse, body: string | Buffer): void {
  const { req: request } = response;
  let length = 0;
  const end = (): void => void response.end();
  const timer = setTimeout(end, restMs).unref();
  response.write(body);
  response.once('close', () => clearTimeout(timer));
  request.once('end', end).on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > mostOfRest) end();
  });
}

function sendPieces(response: ServerResponse, status: number, pieces: readonly Buffer[], headers: readonly string[]): void {
  response.writeHead(status, [...jsonHeaders, String(byteLengthOf(pieces)), ...headers]);
  for (const piece of pieces) response.write(piece);
  response.end();
}

/** Responds with a status and no body. Nothing happens if the caller has left. */
export function sendEmpty(response: ServerResponse, status: number, headers: readonly string[]): void {
  if (response.destroyed || response.headersSent) return;
  const length = status === 204 || status === 304 ? [] : ['content-length', '0'];
  response.writeHead(status, mergeHeaders([...securityHeaders, ...length, ...headers]));
  response.end();
}

/** Responds with any other body than JSON, or with headers that stand in place of the usual ones. `headers`: names and values in turn. */
export function sendBody(response: ServerResponse, status: number, body: string | Uint8Array, headers: readonly string[]): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, mergeHeaders([...securityHeaders, 'content-length', String(Buffer.byteLength(body)), ...headers]));
  response.end(body);
}

/** Each header once: the last one counts, but `vary` names all of them. */
function mergeHeaders(list: readonly string[]): string[] {
  const merged = new Map<string, string>();
  for (let at = 0; at + 1 < list.length; at += 2) {
    const [name = '', value = ''] = [list[at], list[at + 1]];
    const known = name === 'vary' ? merged.get(name) : undefined;
    merged.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  return [...merged].flat();
}
