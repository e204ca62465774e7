import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '@notebridge/protocol/core/principal';
import { byteLengthOf, type Printed } from '@notebridge/protocol/core/wire';
import type { Logger } from '@notebridge/protocol/util/logger';
import { internalError, logFault, printRefusal, type Refusal, toRefusal } from './refusal.js';

export interface HttpContextOptions {
  logger: Logger;
  /** Returns the request's id in the log. Default: the caller's, or a random one. */
  nextId?: (() => string) | undefined;
  /** CORS. Names and values in turn. */
  corsHeaders: readonly string[];
  /** Default: `{"detail":…}`. */
  printRefusal?: ((refusal: Refusal) => string) | undefined;
}

const anonymous: Principal = { kind: 'anonymous' };
const noParams: readonly string[] = [];

/** One request on its way to its answer: what the router has found out about it, and the ways to refuse it. */
export class HttpContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request's id in the log. */
  readonly id: string;
  /** Of every answer: the id of the request, and CORS. Names and values in turn. */
  readonly headers: readonly string[];
  /** What stands in the path for the names of the route, in order, decoded. */
  params: readonly string[] = noParams;
  /** On whose behalf the request comes, if its route asks for a proof. */
  principal: Principal = anonymous;
  readonly #logger: Logger;
  readonly #printRefusal: (refusal: Refusal) => string;

  constructor(request: IncomingMessage, response: ServerResponse, options: HttpContextOptions) {
    const requestId = requestIdOf(request);
    this.request = request;
    this.response = response;
    this.id = options.nextId?.() ?? requestId ?? randomUUID();
    this.headers = ['x-request-id', requestId ?? this.id, ...options.corsHeaders];
    this.#logger = options.logger;
    this.#printRefusal = options.printRefusal ?? printRefusal;
  }

  get query(): URLSearchParams {
    const { url = '' } = this.request;
    const at = url.indexOf('?');
    return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  }

  /** Responds with JSON. Nothing happens if the caller has left, or has an answer already. */
  sendJson(status: number, text: Printed, headers?: readonly string[]): void {
    sendJson(this.response, status, text, headers === undefined || headers.length === 0 ? this.headers : [...this.headers, ...headers]);
  }

  refuse(refusal: Refusal): void {
    this.sendJson(refusal.status, this.#printRefusal(refusal), refusal.headers);
  }

  /** Responds with an error: one that a caller may see as what it is, any other with no more than the id; the log gets the rest. */
  fail(error: unknown): void {
    const refusal = toRefusal(error);
    if (refusal === undefined) logFault(this.#logger, this.id, error);
    this.refuse(refusal ?? internalError(this.id));
  }
}

const usable = /^[\w.:+/=@-]{1,128}$/;

/** The id that the caller gave its request, if it can stand in a log and a header; else undefined. */
function requestIdOf({ headers }: IncomingMessage): string | undefined {
  const id = headers['x-request-id'];
  return typeof id === 'string' && usable.test(id) ? id : undefined;
}

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
