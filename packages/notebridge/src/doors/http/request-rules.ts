import type { IncomingMessage } from 'node:http';
import { findHeadFault, type HeadFault, hostsOf } from '@notebridge/system/net/request-head';
import type { HttpContext } from './http-context.js';
import { sendEmpty } from './raw-answer.js';
import { type Refusal, refuse } from './refusal.js';

export interface RequestRulesOptions {
  /** Values of `Host` that are accepted besides the loopback ones; with or without the port. */
  allowHosts?: readonly string[] | undefined;
  /** Exact origins whose pages may call, besides our own. Default none. */
  allowOrigins?: readonly string[] | undefined;
}

/** Checks a request before anything else looks at it. Undefined if it may be answered. */
export type RequestRules = (request: IncomingMessage) => Refusal | undefined;

/**
 * What every route keeps, besides the rules of every port. Web pages stay out: a browser's Origin must be our own or one that was allowed,
 * and a browser that sends none must say that the request comes from our own page or from a person. Our own is exactly that of the `Host`,
 * which has been checked by then; pages there are the ones that we ship.
 */
export function createRequestRules({ allowHosts, allowOrigins = [] }: RequestRulesOptions): RequestRules {
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
export function corsHeaders({ headers: { origin } }: IncomingMessage, allowOrigins: readonly string[], more?: string): readonly string[] {
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
export function answerOptions(
  { request: { headers: asked }, response, headers }: HttpContext,
  { methods, requestHeaders = usualHeaders }: { methods: readonly string[]; requestHeaders?: string | undefined },
): void {
  const names = methods.join(', ');
  const isPreflight = asked.origin !== undefined && asked['access-control-request-method'] !== undefined;
  const allowed = ['access-control-allow-methods', names, 'access-control-allow-headers', requestHeaders, 'access-control-max-age', '600'];
  sendEmpty(response, 204, [...headers, 'allow', names, ...(isPreflight ? allowed : [])]);
}
