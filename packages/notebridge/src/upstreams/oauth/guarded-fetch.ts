import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import { readAtMost } from '@notebridge/protocol/util/read-at-most';
import { classOfAddress, meantAddress } from '@notebridge/system/net/address-class';

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface GuardedFetchOptions {
  /** The MCP server on whose word we ask others. */
  server: string;
  fetch: Fetch;
  /** Called with each refusal: the SDK takes some for an answer that is not there. */
  onRefused?: ((error: BridgeError) => void) | undefined;
}

const maxBytes = 1024 * 1024;
const timeoutMs = 20_000;
const maxRedirects = 3;

/**
 * For what an MCP server, or its authorization server, says that we should ask: over TLS or on loopback only, never from the
 * internet into the own network, no redirect to another origin, and no more than 1 MiB in 20 s. Rejects with `bad_origin`.
 */
export function createGuardedFetch({ server, fetch, onRefused = () => {} }: GuardedFetchOptions): Fetch {
  const ask: Fetch = async (input, init) => {
    let url = new URL(String(input));
    for (let redirects = 0; ; redirects++) {
      await assertMayAsk(url, server);
      const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
      const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
      if (location === null) return readWhole(response, url);
      await response.body?.cancel();
      const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
      const isRead = init?.method === undefined || init.method === 'GET';
      if (next === undefined || next.origin !== url.origin || !isRead || redirects === maxRedirects)
        throw refused(url, `redirects to ${quote(next?.origin ?? location.slice(0, 100))}, which is not followed`);
      url = next;
    }
  };
  return (input, init) =>
    ask(input, init).catch((error: unknown) => {
      if (error instanceof BridgeError) onRefused(error);
      throw error;
    });
}

/** Rejects with `bad_origin` for an address that nothing secret may be sent to, or that a server on the internet has no business to name. */
export async function assertMayAsk(url: URL, server: string): Promise<void> {
  assertSecure(url);
  const { hostname } = new URL(server);
  // A server of this machine or network may have its authorization server there, too. Of this machine by its name itself: who has a name
  // elsewhere says by DNS what it likes, and otherwise with each look.
  if (isLoopback(hostname)) return;
  const found = await addressesOf(hostname);
  const isServerInside = found.length > 0 && found.every(isInside);
  if (!isServerInside && (isLoopback(url.hostname) || (await addressesOf(url.hostname)).some((address) => classOf(address) !== 'public')))
    throw refused(url, `is in the own network, or nowhere on the Internet, and "${hostname}" is not in the own network`);
  if (url.protocol === 'http:') throw refused(url, `is on this machine, which "${hostname}" is not`);
}

/** @throws BridgeError `bad_origin` unless it is `https:`, or `http:` on loopback, without a password. */
export function assertSecure(url: URL): void {
  const isSecure = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  if (!isSecure) throw refused(url, 'is neither "https:" nor "http:" on loopback');
  if (url.username !== '' || url.password !== '') throw refused(url, 'has a user name or password in it');
}

function isLoopback(hostname: string): boolean {
  const name = bare(hostname);
  return name === 'localhost' || name.endsWith('.localhost') || classOf(name) === 'loopback';
}

function refused(url: URL, why: string): BridgeError {
  const shown = `${url.protocol}//${url.host}${url.pathname}`.slice(0, 300);
  return new BridgeError('bad_origin', `${quote(shown)} ${why}. Nothing was sent there; ask who runs the server.`);
}

/** None for a name that has none: that is for `fetch` to report. */
async function addressesOf(hostname: string): Promise<string[]> {
  const name = bare(hostname);
  if (isIP(name) !== 0) return [name];
  const found = await lookup(name, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/** On this machine, or in a network that is somebody's own: who lives there may name others who do. */
function isInside(address: string): boolean {
  const found = classOf(address);
  return found === 'loopback' || found === 'private';
}

function classOf(address: string): ReturnType<typeof classOfAddress> {
  return classOfAddress(meantAddress(address));
}

function bare(hostname: string): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

async function readWhole(response: Response, url: URL): Promise<Response> {
  const bytes = await readAtMost(response, maxBytes).catch((error: unknown) => {
    throw error instanceof RangeError ? refused(url, `answers with more than ${maxBytes} bytes`) : error;
  });
  const { status, statusText } = response;
  const headers = [...response.headers].filter(([name]) => !['content-encoding', 'content-length', 'transfer-encoding'].includes(name));
  return new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers });
}
