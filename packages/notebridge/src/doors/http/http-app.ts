import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type Logger, silentLogger } from '../../core/logger.js';
import type { OnRefused, RefusedAttempt } from '../../core/refused-attempt.js';
import { CallsUnderWay } from './calls-under-way.js';
import { internalError, logFault } from './faults.js';
import type { FastRoute } from './framework.js';
import { sendRefusal } from './raw-answer.js';
import { requestIdOf } from './request-id.js';
import { corsHeaders, createRequestRules, type RequestRules } from './request-rules.js';

export interface HttpAppOptions {
  /** Values of `Host` that are answered besides the loopback ones; with or without the port. */
  allowHosts?: readonly string[] | undefined;
  /** Origins whose pages may call and read answers, to the letter. Default none, and then no CORS header is ever sent. */
  allowOrigins?: readonly string[] | undefined;
  /** The largest body of a request, bytes. Default 64 MiB. Past it: 413. */
  maxBodyBytes?: number | undefined;
  logger?: Logger | undefined;
  /** Told of each request that was refused for its Host, its Origin or its token. Default: nobody is. */
  onRefused?: OnRefused | undefined;
}

/** The HTTP side of a hub: a server whose routes all keep the same rules, and what its doors share. */
export interface HttpApp {
  readonly logger: Logger;
  readonly maxBodyBytes: number;
  /** For routes that answer past the framework: what must be checked first. */
  readonly rules: RequestRules;
  /** What doors call when they refuse a request for who sends it; `rules` does so by itself. */
  refused(request: IncomingMessage, why: { reason: string; grantId?: string | undefined }): void;
  /** Calls that run for callers; closing the app waits for them, or cancels them. */
  readonly calls: CallsUnderWay;
  /** The headers of an answer past the framework that depend on the request: its id, and CORS. Names and values in turn. */
  headersFor(request: IncomingMessage, requestId: string): string[];
  /**
   * Doors add their routes here, before `listenHttp`. The framework costs more than all else at a start, and memory after it; so it
   * is loaded with the first request that is for none of the fast routes, and the routes are added then.
   */
  addRoutes(add: (fastify: FastifyInstance) => void): void;
  /** Has requests looked at before the framework, in the order of adding: for the routes whose cost counts. */
  addFastRoute(route: FastRoute): void;
  /** Answers one request: what a `node:http` server hands its requests to. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Lets go of the framework. Closing twice is harmless. */
  close(): Promise<void>;
}

const defaultMaxBodyBytes = 64 * 1024 * 1024;

/** Makes the app. It listens nowhere yet: see `listenHttp`. */
export function createHttpApp(options: HttpAppOptions = {}): HttpApp {
  const { logger = silentLogger, maxBodyBytes = defaultMaxBodyBytes, allowOrigins = [], onRefused = () => {} } = options;
  const rules = createRequestRules(options);
  const fastRoutes: FastRoute[] = [];
  const additions: ((fastify: FastifyInstance) => void)[] = [];
  let loading: Promise<FastifyInstance> | undefined;
  let framework: FastifyInstance | undefined;

  const load = async (): Promise<FastifyInstance> => {
    const { createFramework } = await import('./framework.js');
    framework = await createFramework(app, { fastRoutes, additions });
    return framework;
  };

  const app: HttpApp = {
    logger,
    maxBodyBytes,
    rules: (request) => {
      const refusal = rules(request);
      if (refusal !== undefined) app.refused(request, { reason: refusal.reason ?? 'malformed' });
      return refusal;
    },
    refused: (request, why) => onRefused({ ...why, door: doorOf(request.url), remoteAddress: request.socket.remoteAddress }),
    calls: new CallsUnderWay(),
    headersFor: (request, requestId) => ['x-request-id', requestId, ...corsHeaders(request, allowOrigins)],
    addRoutes: (add) => void additions.push(add),
    addFastRoute: (route) => void fastRoutes.push(route),
    handle: (request, response) => {
      for (const { take } of fastRoutes) if (take(request, response)) return;
      if (framework !== undefined) return framework.routing(request, response);
      loading ??= load();
      loading.then(
        ({ routing }) => routing(request, response),
        (error: unknown) => sendFault(app, request, response, { error, callId: requestIdOf(request) ?? 'none' }),
      );
    },
    close: async () => {
      const loaded = await loading?.catch(() => undefined);
      await loaded?.close();
    },
  };
  return app;
}

/** Which door a path belongs to, as the audit names it. */
function doorOf(url = ''): RefusedAttempt['door'] {
  const [path = ''] = url.split('?', 1);
  return doors.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1] ?? 'other';
}

const doors: [string, RefusedAttempt['door']][] = [
  ['/api/v1/mcp/proxy', 'tool-proxy'],
  ['/mcp', 'http'],
  ['/api/v1/hub', 'owner'],
  ['/api/v1/exchange', 'exchange'],
];

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
