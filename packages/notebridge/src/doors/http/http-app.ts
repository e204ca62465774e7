import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Logger, silentLogger } from '@notebridge/kit/logger';
import { pathOf } from '@notebridge/kit/request-head';
import type { Principal } from '../../core/principal.js';
import type { OnRefused, RefusedAttempt } from '../../net/refused-attempt.js';
import { CallsUnderWay } from './calls-under-way.js';
import { HttpContext } from './http-context.js';
import { hubIsEnding, isRefusal, type Refusal, refuse } from './refusal.js';
import { answerOptions, corsHeaders, createRequestRules } from './request-rules.js';
import { type HttpRoute, methodsOf, type RouteMatch, RouteTable, refuseMethod } from './route-table.js';

export interface HttpAppOptions {
  /** Values of `Host` that are accepted besides the loopback ones; with or without the port. */
  allowHosts?: readonly string[] | undefined;
  /** Exact origins whose pages may call and read answers. Default none, and then no CORS header is ever sent. */
  allowOrigins?: readonly string[] | undefined;
  /** The largest body of a request, bytes. Default 64 MiB. Past it: 413. */
  maxBodyBytes?: number | undefined;
  logger?: Logger | undefined;
  /** Called for each request that was refused for its Host, its Origin or its token. Default: not reported. */
  onRefused?: OnRefused | undefined;
}

/** The HTTP side of a hub: a server whose routes all keep the same rules, and what its doors share. */
export interface HttpApp {
  readonly logger: Logger;
  readonly maxBodyBytes: number;
  /** What doors call when they refuse a request for its sender; refusals for Host, Origin and tokens of routes are reported already. */
  refused(request: IncomingMessage, why: { reason: string; grantId?: string | undefined }): void;
  /** Calls that run for callers; the end waits for them and their answers, or cancels them. */
  readonly calls: CallsUnderWay;
  /** Doors add their routes here, before `listenHttp`. */
  addRoute(route: HttpRoute): void;
  /** From now on requests are refused, with the advice to come again: to another hub, or to this one once it is back. What runs goes on. */
  drain(): void;
  readonly isDraining: boolean;
  /** Answers one request: what a `node:http` server hands its requests to. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void;
}

const defaultMaxBodyBytes = 64 * 1024 * 1024;

/** Makes the app. It listens nowhere yet: see `listenHttp`. */
export function createHttpApp(options: HttpAppOptions = {}): HttpApp {
  const { logger = silentLogger, maxBodyBytes = defaultMaxBodyBytes, allowOrigins = [], onRefused = () => {} } = options;
  const rules = createRequestRules(options);
  const routes = new RouteTable();
  const calls = new CallsUnderWay();
  let isDraining = false;
  const refused: HttpApp['refused'] = (request, why) =>
    onRefused({ ...why, door: doorOf(request), remoteAddress: request.socket.remoteAddress });

  /** The way of every request. Nothing on it is async that need not be: each promise would cost more than the check behind it. */
  const answer = (context: HttpContext, match: RouteMatch | undefined): void | Promise<void> => {
    const { request } = context;
    const { method = '' } = request;
    const refusal = rules(request);
    if (refusal !== undefined) {
      refused(request, { reason: refusal.reason ?? 'malformed' });
      return context.refuse(refusal);
    }
    if (isDraining && match?.route.isAnsweredToTheEnd !== true) return context.refuse(hubIsEnding);
    if (match === undefined) return context.refuse(isEncoded(pathOf(request)) ? routes.refuse() : badPath);
    const { route, params } = match;
    if (params === undefined) return context.refuse(badPath);
    if (!route.methods.includes(method)) {
      if (method !== 'OPTIONS') return context.refuse(refuseMethod(method, route));
      return answerOptions(context, { methods: methodsOf(route), requestHeaders: route.requestHeaders });
    }
    context.params = params;
    if (route.authenticator === undefined) return route.handle(context);
    const admit = (principal: Principal | Refusal): void | Promise<void> => {
      if (isRefusal(principal)) return context.refuse(principal);
      context.principal = principal;
      calls.willAnswer(context.response);
      return route.handle(context);
    };
    const checked = route.authenticator.check(request);
    return checked instanceof Promise ? checked.then(admit) : admit(checked);
  };

  return {
    logger,
    maxBodyBytes,
    refused,
    calls,
    addRoute: (route) => routes.add(route),
    drain: () => {
      isDraining = true;
    },
    get isDraining() {
      return isDraining;
    },
    handle: (request, response) => {
      const match = routes.match(pathOf(request));
      const { nextId, printRefusal, exposedHeaders } = match?.route ?? {};
      const cors = corsHeaders(request, allowOrigins, exposedHeaders);
      const context = new HttpContext(request, response, { logger, nextId, printRefusal, corsHeaders: cors });
      try {
        answer(context, match)?.catch((error: unknown) => context.fail(error));
      } catch (error) {
        context.fail(error);
      }
    },
  };
}

const badPath = refuse(400, 'The path is not percent-encoded correctly.');

function isEncoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Which door a path belongs to, as the audit names it. */
function doorOf(request: IncomingMessage): RefusedAttempt['door'] {
  const path = pathOf(request);
  return doors.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1] ?? 'other';
}

const doors: [string, RefusedAttempt['door']][] = [
  ['/api/v1/mcp/proxy', 'tool-proxy'],
  ['/mcp', 'http'],
  ['/api/v1/hub', 'owner'],
  ['/api/v1/exchange', 'exchange'],
  ['/console', 'console'],
  ['/metrics', 'metrics'],
  ['/connect', 'connect'],
];
