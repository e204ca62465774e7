import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { Printed } from '@notebridge/protocol/core/wire';
import type { Logger } from '@notebridge/protocol/util/logger';
import { sendJson } from './raw-answer.js';
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
