import type { ServerResponse } from 'node:http';
import { byteLengthOf, type Printed } from '../../rpc/long-strings.js';
import { printJson } from '../../util/exact-json.js';
import type { Refusal } from './refusal.js';

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

/** Answers with JSON past the framework. `headers`: names and values in turn. Nothing happens if the caller has left. */
export function sendJson(response: ServerResponse, status: number, text: Printed, headers: readonly string[]): void {
  if (response.destroyed || response.headersSent) return;
  if (typeof text !== 'string') return sendPieces(response, status, text, headers);
  // A short text leaves in one piece with its head; a long one would be looked through twice, to count and to encode it.
  const body = text.length < longText ? text : Buffer.from(text);
  const all = [...jsonHeaders, String(Buffer.byteLength(body))];
  for (const part of headers) all.push(part);
  response.writeHead(status, all);
  response.end(body);
}

function sendPieces(response: ServerResponse, status: number, pieces: readonly Buffer[], headers: readonly string[]): void {
  response.writeHead(status, [...jsonHeaders, String(byteLengthOf(pieces)), ...headers]);
  for (const piece of pieces) response.write(piece);
  response.end();
}

export function sendRefusal(response: ServerResponse, refusal: Refusal, headers: readonly string[]): void {
  sendJson(response, refusal.status, printRefusal(refusal), refusal.headers === undefined ? headers : [...headers, ...refusal.headers]);
}

export function printRefusal({ detail, more }: Refusal): string {
  return printJson({ detail, ...more });
}
