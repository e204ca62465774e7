import type { IncomingMessage } from 'node:http';

/** The target before its query, to the letter: nothing is decoded or normalised, so only one spelling of a path fits. */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

/** True if the `Host` header of the request is among `hosts`. */
export function namesHost({ headers: { host } }: IncomingMessage, hosts: ReadonlySet<string>): boolean {
  return host !== undefined && hosts.has(host.toLowerCase());
}

/** True if a header came twice that decides something: Node keeps the first, another program on the way may have read the second. */
export function repeatsHeader({ headersDistinct: { host, authorization } }: IncomingMessage): boolean {
  return (host?.length ?? 0) > 1 || (authorization?.length ?? 0) > 1;
}

/** What `Host` may say, lower case: a loopback name with our port, or what the person has allowed, to the letter or with our port. */
export function hostsOf(port: number, allowed: readonly string[]): ReadonlySet<string> {
  const withPort = ['localhost', '127.0.0.1', '[::1]', ...allowed].map((host) => `${host}:${port}`);
  return new Set([...withPort, ...allowed].map((host) => host.toLowerCase()));
}
