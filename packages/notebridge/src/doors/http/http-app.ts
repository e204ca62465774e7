import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '@notebridge/protocol/core/principal';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import type { OnRefused, RefusedAttempt } from '@notebridge/system/net/refused-attempt';
import { findHeadFault, type HeadFault, hostsOf, pathOf } from '@notebridge/system/net/request-head';
import type { Authenticator } from './authenticator.js';
import { CallsUnderWay } from './calls-under-way.js';
import { HttpContext, sendEmpty } from './http-context.js';
import { hubIsEnding, isRefusal, type Refusal, refuse } from './refusal.js';

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
    const admit = (principal: Principal): void | Promise<void> => {
      context.principal = principal;
      calls.willAnswer(context.response);
      return route.handle(context);
    };
    const checked = route.authenticator.check(request);
    if (!(checked instanceof Promise)) return admit(checked);
    return checked.then((found) => (isRefusal(found) ? context.refuse(found) : admit(found)));
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

/** Checks a request before anything else looks at it. Undefined if it may be answered. */
type RequestRules = (request: IncomingMessage) => Refusal | undefined;

/**
 * What every route keeps, besides the rules of every port. Web pages stay out: a browser's Origin must be our own or one that was allowed,
 * and a browser that sends none must say that the request comes from our own page or from a person. Our own is exactly that of the `Host`,
 * which has been checked by then; pages there are the ones that we ship.
 */
function createRequestRules({ allowHosts, allowOrigins = [] }: HttpAppOptions): RequestRules {
  const origins = new Set(allowOrigins);
  const allowsOrigin = (origin: string | undefined, { host, 'sec-fetch-site': site }: IncomingMessage['headers']): boolean =>
    origin === undefined
      ? site === undefined || site === 'same-origin' || site === 'none'
      : origins.has(origin) || (origin === `http://${host}` && (site === undefined || site === 'same-origin'));
  let ofPort = { port: -1, rules: { hosts: hostsOf(-1), allowsOrigin } };
  return (request) => {
    const { headers, socket, url = '' } = request;
    const port = socket.localPort ?? 0;
    if (ofPort.port !== port) ofPort = { port, rules: { hosts: hostsOf(port, allowHosts), allowsOrigin } };
    const fault = findHeadFault(request, ofPort.rules);
    if (fault !== undefined) return headRefusals[headers.origin === undefined && fault === 'wrong_origin' ? 'wrong_site' : fault];
    return url.startsWith('/') ? undefined : refuse(400, 'The target of a request must be a path.');
  };
}

const noHeaders: readonly string[] = [];
const exposedHeaders = 'etag, retry-after, www-authenticate, x-request-id, idempotency-replayed';

/** The headers with which an allowed page may read an answer; none for any other caller. `more`: headers that it may read, too. */
function corsHeaders({ headers: { origin } }: IncomingMessage, allowOrigins: readonly string[], more?: string): readonly string[] {
  if (origin === undefined || !allowOrigins.includes(origin)) return noHeaders;
  const exposed = more === undefined ? exposedHeaders : `${exposedHeaders}, ${more}`;
  return ['access-control-allow-origin', origin, 'vary', 'origin', 'access-control-expose-headers', exposed];
}

const headRefusals: Record<HeadFault | 'wrong_site', Refusal> = {
  repeated_host: refuse(400, 'The header Host was sent twice.'),
  repeated_authorization: refuse(400, 'The header Authorization was sent twice.'),
  wrong_host: {
    ...refuse(403, 'The Host header does not name this server. Call it as localhost, or allow the name with --allow-host.'),
    reason: 'wrong_host',
  },
  wrong_origin: { ...refuse(403, 'Pages of this origin may not call. Allow it with --allow-origin.'), reason: 'wrong_origin' },
  wrong_site: { ...refuse(403, 'Requests from pages of other sites are not answered.'), reason: 'wrong_origin' },
};

/** What a page may send along where a route names nothing else. */
const usualHeaders = 'authorization, content-type, accept, idempotency-key, if-none-match, x-request-id';

/** Answers OPTIONS. A preflight of an allowed page gets what it asks for; any other caller just the methods. */
function answerOptions(
  { request: { headers: asked }, response, headers }: HttpContext,
  { methods, requestHeaders = usualHeaders }: { methods: readonly string[]; requestHeaders?: string | undefined },
): void {
  const names = methods.join(', ');
  const isPreflight = asked.origin !== undefined && asked['access-control-request-method'] !== undefined;
  const allowed = ['access-control-allow-methods', names, 'access-control-allow-headers', requestHeaders, 'access-control-max-age', '600'];
  sendEmpty(response, 204, [...headers, 'allow', names, ...(isPreflight ? allowed : [])]);
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

/** A route of an app. */
export interface HttpRoute {
  /** HEAD is named where it is answered. OPTIONS is answered for every route. */
  methods: readonly string[];
  /** `:name` stands for one segment. A path without names comes before one that fits by its form. */
  path: string;
  /** Answers the request, which keeps the rules of the app. What it throws is answered too, as an error of the request. */
  handle: (context: HttpContext) => void | Promise<void>;
  /** Requires authentication, before `handle`. */
  authenticator?: Authenticator | undefined;
  /** Gives the id of each request. Default: the caller's, or a random one. */
  nextId?: (() => string) | undefined;
  /** Default: `{"detail":…}`. */
  printRefusal?: ((refusal: Refusal) => string) | undefined;
  /** Headers that an allowed page may send, and that it may read besides the usual ones. */
  requestHeaders?: string | undefined;
  exposedHeaders?: string | undefined;
  /** Answered also while the hub ends: it says how the hub is, or looks itself at what belongs to a call that runs. */
  isAnsweredToTheEnd?: boolean | undefined;
  /** A part of a page that is not worth naming. */
  isHidden?: boolean | undefined;
}

interface RouteMatch {
  route: HttpRoute;
  /** What stands in the path for the names of the route, in order; undefined if it is not encoded correctly. */
  params: readonly string[] | undefined;
}

const none: readonly string[] = [];

/** The routes of an app: which one a path has, and for those who ask for something else, which ones there are. */
export class RouteTable {
  readonly #exact = new Map<string, RouteMatch>();
  readonly #patterns: { pattern: RegExp; route: HttpRoute }[] = [];
  readonly #all: HttpRoute[] = [];

  add(route: HttpRoute): void {
    this.#all.push(route);
    if (route.path.includes(':')) this.#patterns.push({ pattern: toPattern(route.path), route });
    else this.#exact.set(route.path, { route, params: none });
  }

  /** The route of a path, whatever the method. */
  match(path: string): RouteMatch | undefined {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return exact;
    for (const { pattern, route } of this.#patterns) {
      const found = pattern.exec(path);
      if (found !== null) return { route, params: decodeAll(found) };
    }
    return undefined;
  }

  /** Why there is no answer at a path: what there is. */
  refuse(): Refusal {
    const listed = this.#all.filter(({ isHidden }) => isHidden !== true);
    const names = listed.map(({ path, methods }) => `${methods.filter((name) => name !== 'HEAD').join('|')} ${path}`);
    return refuse(404, `Nothing is served at this path. There is: ${names.sort().join(', ')}.`);
  }
}

/** What a route answers, sorted. */
export function methodsOf({ methods }: HttpRoute): string[] {
  return [...methods, 'OPTIONS'].sort();
}

/** Why a route does not answer: which methods it has. */
export function refuseMethod(method: string, route: HttpRoute): Refusal {
  const names = methodsOf(route).join(', ');
  return refuse(405, `${method} is not answered here, only ${names}.`, ['allow', names]);
}

function toPattern(path: string): RegExp {
  const escaped = path.replace(/[.+*?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[^/]+/g, '([^/]+)')}$`);
}

/** Names are decoded once. */
function decodeAll(found: RegExpExecArray): string[] | undefined {
  const params: string[] = [];
  try {
    for (let at = 1; at < found.length; at++) {
      const name = found[at] ?? '';
      params.push(name.includes('%') ? decodeURIComponent(name) : name);
    }
    return params;
  } catch {
    return undefined;
  }
}
