import type { IncomingMessage } from 'node:http';

/** The target before its query, unchanged: nothing is decoded or normalised, so only one spelling of a path matches. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** What every port checks in the head of a request before anything else. */
export interface HeadRules {
  /** Allowed values of `Host`: see `hostsOf`. Any other may be a name that an attacker points at us (DNS rebinding). */
  hosts: ReadonlySet<string>;
  /** Undefined: the request names no origin. A loopback origin gets no bonus: an agent's own browser is on localhost too. */
  allowsOrigin(origin: string | undefined, headers: IncomingMessage['headers']): boolean;
}

export type HeadFault = 'repeated_host' | 'repeated_authorization' | 'wrong_host' | 'wrong_origin';

/** The first rule that a request breaks; undefined if none. */
export function findHeadFault(request: IncomingMessage, { hosts, allowsOrigin }: HeadRules): HeadFault | undefined {
  const { headers } = request;
  const { host = '', origin } = headers;
  const repeated = findRepeated(request);
  if (repeated !== undefined) return repeated;
  if (!(hosts.has(host) || hosts.has(host.toLowerCase()))) return 'wrong_host';
  return allowsOrigin(origin, headers) ? undefined : 'wrong_origin';
}

/** Allowed values of `Host`, lower case: a loopback name with our port, or what the person has allowed, exactly or with our port. */
export function hostsOf(port: number, allowed: readonly string[] = []): ReadonlySet<string> {
  const loopback = ['localhost', '127.0.0.1', '[::1]'];
  const others = allowed.map(toHost);
  const withPort = [...loopback, ...others].map((host) => `${host}:${port}`);
  // Clients omit the default port.
  return new Set([...withPort, ...(port === 80 ? loopback : []), ...others].map((host) => host.toLowerCase()));
}

/** An address of IPv6 stands in brackets in `Host`, and elsewhere, as in the address of a pod, without. A name with a port has one colon. */
function toHost(allowed: string): string {
  return /^[^[:]*:[^:]*:/.test(allowed) ? `[${allowed}]` : allowed;
}

/** A header that decides something came twice: Node keeps the first, another program on the way may have read the second. */
function findRepeated({ rawHeaders }: IncomingMessage): 'repeated_host' | 'repeated_authorization' | undefined {
  let hosts = 0;
  let authorizations = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name === undefined) continue;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++;
  }
  return hosts > 1 ? 'repeated_host' : authorizations > 1 ? 'repeated_authorization' : undefined;
}
