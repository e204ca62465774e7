import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, type HTTPMethods } from 'fastify';
import type { Logger } from '../../core/logger.js';
import { internalError, logFault } from './faults.js';
import { securityHeaders } from './raw-answer.js';
import { type Refusal, refuse, toRefusal } from './refusal.js';
import { requestIdOf } from './request-id.js';
import type { RequestRules } from './request-rules.js';
import { RouteTable } from './route-table.js';

/** Beyond any name that fits into a request line. */
const maxParamLength = 16_384;

/** A route that is answered past the framework. */
export interface FastRoute {
  methods: readonly string[];
  /** Its paths, as the framework would be told them: for the lists of what is served. */
  urls: readonly string[];
  /** Takes the request, or returns false if it is another's. */
  take: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** What the framework needs of its app. */
interface FrameworkApp {
  readonly logger: Logger;
  readonly maxBodyBytes: number;
  readonly rules: RequestRules;
  headersFor(request: IncomingMessage, requestId: string): string[];
}

interface Routes {
  fastRoutes: readonly FastRoute[];
  additions: readonly ((fastify: FastifyInstance) => void)[];
}

/** The framework behind an app, ready to take requests: the rules of every route, and the routes that the doors add. */
export async function createFramework(app: FrameworkApp, { fastRoutes, additions }: Routes): Promise<FastifyInstance> {
  const routes = new RouteTable();
  const server = fastify({
    bodyLimit: app.maxBodyBytes,
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

  server.addHook('onRoute', (route) => routes.add(route));
  server.addHook('onRequest', async (request, reply) => {
    const refusal = app.rules(request.raw);
    if (refusal !== undefined) return send(request, reply, refusal);
    reply.headers({ ...pairs(securityHeaders), ...pairs(app.headersFor(request.raw, request.id)) });
    if (request.method === 'OPTIONS' && routes.methodsAt(request.url).length > 0) return answerOptions(request, reply, routes);
    // Before its body is looked at: that is nobody's business here.
    return request.is404 ? send(request, reply, routes.refuse(request.method, request.url)) : undefined;
  });
  server.setNotFoundHandler((request, reply) => send(request, reply, routes.refuse(request.method, request.url)));
  server.setErrorHandler((error, request, reply) => send(request, reply, toAppRefusal(error, request, app)));
  for (const route of fastRoutes) nameFastRoute(server, route);
  for (const add of additions) add(server);
  await server.ready();
  return server;
}

/** The framework knows the fast routes, so that its lists of them are true; what it is given of them takes the same way. */
function nameFastRoute(server: FastifyInstance, { methods, urls, take }: FastRoute): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    for (const url of urls) {
      scope.route({
        method: methods as HTTPMethods[],
        url,
        handler: (request, reply) => {
          // A path may fit by its form alone: a name in it may be empty.
          if (!take(request.raw, reply.raw)) return reply.callNotFound();
          reply.hijack();
          return reply;
        },
      });
    }
    done();
  });
}

/** The framework's own refusals have a status below 500 and a text that shows nothing of the inside. */
function toAppRefusal(error: unknown, request: FastifyRequest, app: FrameworkApp): Refusal {
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
