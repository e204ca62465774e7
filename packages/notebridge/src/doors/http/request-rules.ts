import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from './refusal.js';

export interface RequestRulesOptions {
  /** Values of `Host` that are answered besides the loopback ones; with or without the port. */
  allowHosts?: readonly string[] | undefined;
  /** Origins whose pages may call, to the letter. Default none: no page may. */
  allowOrigins?: readonly string[] | undefined;
}

/** Checks a request before anything else looks at it. Undefined if it may be answered. */
export type RequestRules = (request: IncomingMessage) => Refusal | undefined;

/**
 * What every route keeps. One Host and one Authorization. Web pages stay out: the Host must name us (DNS rebinding), a browser's Origin must be one that was
 * allowed, and a browser that sends none must say that the request comes from our own page or from a person. A loopback Origin
 * gets no bonus: an agent's own browser is on localhost too.
 */
export function createRequestRules({ allowHosts = [], allowOrigins = [] }: RequestRulesOptions): RequestRules {
  const origins = new Set(allowOrigins);
  let ofPort = { port: -1, hosts: new Set<string>() };
  return (request) => {
    const { headers, socket, url = '' } = request;
    const port = socket.localPort ?? 0;
    if (ofPort.port !== port) ofPort = { port, hosts: hostsOf(port, allowHosts) };
    const repeated = findRepeated(request);
    if (repeated !== undefined) return refuse(400, `The header ${repeated} was sent twice.`);
    const { host = '' } = headers;
    if (!(ofPort.hosts.has(host) || ofPort.hosts.has(host.toLowerCase())))
      return refuseFor(
        'wrong_host',
        'The Host header does not name this server. Call it as localhost, or allow the name with --allow-host.',
      );
    const refusal = checkOrigin(headers, origins);
    if (refusal !== undefined) return refusal;
    return url.startsWith('/') ? undefined : refuse(400, 'The target of a request must be a path.');
  };
}

const noHeaders: readonly string[] = [];
const exposedHeaders = 'etag, retry-after, www-authenticate, x-request-id, idempotency-replayed';

/** The headers with which an allowed page may read an answer; none for everybody else. `more`: headers that it may read, too. */
export function corsHeaders({ headers: { origin } }: IncomingMessage, allowOrigins: readonly string[], more?: string): readonly string[] {
  if (origin === undefined || !allowOrigins.includes(origin)) return noHeaders;
  const exposed = more === undefined ? exposedHeaders : `${exposedHeaders}, ${more}`;
  return ['access-control-allow-origin', origin, 'vary', 'origin', 'access-control-expose-headers', exposed];
}

function checkOrigin(headers: IncomingMessage['headers'], origins: ReadonlySet<string>): Refusal | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined) {
    if (origins.has(origin)) return undefined;
    return refuseFor('wrong_origin', 'Pages of this origin may not call. Allow it with --allow-origin.');
  }
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  return refuseFor('wrong_origin', 'Requests from pages of other sites are not answered.');
}

function refuseFor(reason: string, detail: string): Refusal {
  return { ...refuse(403, detail), reason };
}

function hostsOf(port: number, allowed: readonly string[]): Set<string> {
  const withPort = ['localhost', '127.0.0.1', '[::1]', ...allowed].map((host) => `${host}:${port}`);
  // A client leaves out the port of its scheme.
  const withoutPort = port === 80 ? ['localhost', '127.0.0.1', '[::1]'] : [];
  return new Set([...withPort, ...withoutPort, ...allowed].map((host) => host.toLowerCase()));
}

/** Node keeps the first of two; another program on the way may have read the second. */
function findRepeated({ rawHeaders }: IncomingMessage): 'Host' | 'Authorization' | undefined {
  let hosts = 0;
  let authorizations = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name === undefined) continue;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++;
  }
  return hosts > 1 ? 'Host' : authorizations > 1 ? 'Authorization' : undefined;
}
