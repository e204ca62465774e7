import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { type Logger, silentLogger } from '../../core/logger.js';
import { CallsUnderWay } from './calls-under-way.js';
import { securityHeaders, sendRefusal } from './raw-answer.js';
import { type Refusal, refuse, toRefusal } from './refusal.js';
import { requestIdOf } from './request-id.js';
import { corsHeaders, createRequestRules, type RequestRules } from './request-rules.js';
import { RouteTable } from './route-table.js';

export interface HttpAppOptions {
  /** Values of `Host` that are answered besides the loopback ones; with or without the port. */
  allowHosts?: readonly string[] | undefined;
  /** Origins whose pages may call and read answers, to the letter. Default none, and then no CORS header is ever sent. */
  allowOrigins?: readonly string[] | undefined;
  /** The largest body of a request, bytes. Default 64 MiB. Past it: 413. */
  maxBodyBytes?: number | undefined;
  logger?: Logger | undefined;
}

/** Takes a request past the framework, or returns false to leave it to the framework. */
export type FastRoute = (request: IncomingMessage, response: ServerResponse) => boolean;

/** The HTTP side of a hub: a Fastify app whose routes all keep the same rules, and what its doors share. */
export interface HttpApp {
  /** Doors add their routes here, before `listenHttp`. */
  readonly fastify: FastifyInstance;
  readonly logger: Logger;
  readonly maxBodyBytes: number;
  /** For routes that answer past the framework: what must be checked first. */
  readonly rules: RequestRules;
  /** Calls that run for callers; closing the app waits for them, or cancels them. */
  readonly calls: CallsUnderWay;
  /** The headers of an answer past the framework that depend on the request: its id, and CORS. Names and values in turn. */
  headersFor(request: IncomingMessage, requestId: string): string[];
  /** Has requests looked at before the framework, in the order of adding: for the one route whose cost counts. */
  addFastRoute(route: FastRoute): void;
  /** Answers one request: what a `node:http` server hands its requests to. */
  handle(request: IncomingMessage, response: ServerResponse): void;
}

const defaultMaxBodyBytes = 64 * 1024 * 1024;
/** Beyond any name that fits into a request line. */
const maxParamLength = 16_384;

/** Makes the app. It listens nowhere yet: see `listenHttp`. */
export function createHttpApp(options: HttpAppOptions = {}): HttpApp {
  const { logger = silentLogger, maxBodyBytes = defaultMaxBodyBytes, allowOrigins = [] } = options;
  const rules = createRequestRules(options);
  const fastRoutes: FastRoute[] = [];
  const routes = new RouteTable();
  const server = fastify({
    bodyLimit: maxBodyBytes,
    forceCloseConnections: true,
    genReqId: (request) => requestIdOf(request) ?? randomUUID(),
    routerOptions: { maxParamLength },
    frameworkErrors: (_, request, reply) => void send(request, reply, refuse(400, 'The path is not percent-encoded correctly.')),
  });

  const send = (request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply => {
    const headers = pairs([...app.headersFor(request.raw, request.id), ...(refusal.headers ?? [])]);
    return reply
      .code(refusal.status)
      .headers({ ...pairs(securityHeaders), ...headers })
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ detail: refusal.detail, ...refusal.more }));
  };

  const app: HttpApp = {
    fastify: server,
    logger,
    maxBodyBytes,
    rules,
    calls: new CallsUnderWay(),
    headersFor: (request, requestId) => ['x-request-id', requestId, ...corsHeaders(request, allowOrigins)],
    addFastRoute: (route) => void fastRoutes.push(route),
    handle: (request, response) => {
      for (const route of fastRoutes) if (route(request, response)) return;
      server.routing(request, response);
    },
  };

  server.addHook('onRoute', (route) => routes.add(route));
  server.addHook('onRequest', async (request, reply) => {
    const refusal = rules(request.raw);
    if (refusal !== undefined) return send(request, reply, refusal);
    reply.headers({ ...pairs(securityHeaders), ...pairs(app.headersFor(request.raw, request.id)) });
    if (request.method === 'OPTIONS' && routes.methodsAt(request.url).length > 0) return answerOptions(request, reply, routes);
    // Before its body is looked at: that is nobody's business here.
    return request.is404 ? send(request, reply, routes.refuse(request.method, request.url)) : undefined;
  });
  server.setNotFoundHandler((request, reply) => send(request, reply, routes.refuse(request.method, request.url)));
  server.setErrorHandler((error, request, reply) => send(request, reply, toAppRefusal(error, request, app)));
  return app;
}

/** An unexpected fault of a route past the framework: the caller gets its id, the log gets the rest. */
export function sendFault(
  app: HttpApp,
  request: IncomingMessage,
  response: ServerResponse,
  fault: { error: unknown; callId: string },
): void {
  const { error, callId } = fault;
  logFault(app.logger, callId, error);
  sendRefusal(response, internalError(callId), app.headersFor(request, requestIdOf(request) ?? callId));
}

export function logFault(logger: Logger, callId: string, error: unknown): void {
  logger.error('A request failed unexpectedly.', { call_id: callId, error: error instanceof Error ? error.stack : String(error) });
}

function internalError(callId: string): Refusal {
  return { status: 500, detail: 'Internal error', more: { call_id: callId } };
}

/** The framework's own refusals have a status below 500 and a text that shows nothing of the inside. */
function toAppRefusal(error: unknown, request: FastifyRequest, app: HttpApp): Refusal {
  const refusal = toRefusal(error);
  if (refusal !== undefined) return refusal;
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500)
    return refuse(error.statusCode, error.message);
  logFault(app.logger, request.id, error);
  return internalError(request.id);
}

/** A preflight of an allowed page gets what it asks for; anybody else just the methods. */
function answerOptions(request: FastifyRequest, reply: FastifyReply, routes: RouteTable): FastifyReply {
  const methods = routes.methodsAt(request.url).join(', ');
  const isPreflight = request.headers.origin !== undefined && request.headers['access-control-request-method'] !== undefined;
  if (isPreflight) {
    reply.headers({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': 'authorization, content-type, accept, idempotency-key, if-none-match, x-request-id',
      'access-control-max-age': '600',
    });
  }
  return reply.code(204).header('allow', methods).send();
}

function pairs(list: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let at = 0; at + 1 < list.length; at += 2) record[String(list[at])] = String(list[at + 1]);
  return record;
}
