import { type ClientRequest, type IncomingMessage, request as requestServer } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createReach, type Reach, type RelaySeam } from './reach.js';

export interface RelayFetchOptions {
  /** Entries of `--allow-net`. */
  allow: readonly string[];
  /** Without a byte. Default: a minute. */
  idleTimeoutMs?: number | undefined;
  /** @internal */
  seam?: RelaySeam | undefined;
}

export interface RelayRequest {
  readonly url: string;
  /** Default `GET`. */
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | undefined;
  /** `follow`: at most 20, each of them checked like the first. `manual`: the answer that redirects is the answer. */
  readonly redirect: 'follow' | 'manual';
}

export interface RelayResponse {
  readonly status: number;
  readonly statusText: string;
  /** The last one of redirects. */
  readonly url: string;
  readonly headers: [name: string, value: string][];
  /** Not read yet. Whoever does not read it to its end destroys it. */
  readonly body: IncomingMessage;
}

/** Rejects with a message that may be shown to code. */
export type RelayFetch = (request: RelayRequest, signal: AbortSignal) => Promise<RelayResponse>;

const maxRedirects = 20;
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Said by us, or about this one connection. */
const ours = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // What comes compressed would be handed on so, of unknown size.
  'accept-encoding',
]);
/** Meant for one server alone. */
const personal = new Set(['authorization', 'cookie']);

/** Fetches as the proxy of relay.ts connects: allowed servers on public addresses, also behind a redirect. Throws for an entry that names no server. */
export function createRelayFetch({ allow, idleTimeoutMs = 60_000, seam = {} }: RelayFetchOptions): RelayFetch {
  const reach = createReach(allow, seam);
  return async (given, signal) => {
    let request = given;
    for (let hops = 0; ; hops++) {
      const url = parseUrl(request.url);
      const answer = await exchange(request, url, { reach, ca: seam.ca, idleTimeoutMs, signal });
      if (request.redirect !== 'follow' || !isRedirect(answer)) return toResponse(answer, url);
      answer.destroy();
      const next = nextOf(answer, url);
      if (hops === maxRedirects) throw new Error(`"${given.url}" leads on more than ${maxRedirects} times`);
      if (url.protocol === 'https:' && next.protocol === 'http:')
        throw new Error(`"${url.origin}" leads on to "${next.origin}", which is not encrypted`);
      request = redirected(request, { from: url, to: next, status: answer.statusCode ?? 0 });
    }
  };
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new Error(`"${text.slice(0, 200)}" is no address of http or https`);
  if (url.username !== '' || url.password !== '')
    throw new Error('A name and password in an address are not sent. Use the header "Authorization"');
  return url;
}

interface Means {
  reach: Reach;
  ca: string | undefined;
  idleTimeoutMs: number;
  signal: AbortSignal;
}

async function exchange(request: RelayRequest, url: URL, { reach, ca, idleTimeoutMs, signal }: Means): Promise<IncomingMessage> {
  const { method, body } = request;
  if (!methods.has(method)) throw new Error(`The method "${method.slice(0, 20)}" is none of ${[...methods].join(', ')}`);
  signal.throwIfAborted();
  const isTls = url.protocol === 'https:';
  const socket = await reach(url.hostname, Number(url.port || (isTls ? 443 : 80)));
  const stop = () => socket.destroy();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', stop));
  socket.setTimeout(idleTimeoutMs, () => socket.destroy(new Error(`nothing came for ${idleTimeoutMs / 1000} s`)));
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      socket.destroy();
      reject(new Error(signal.aborted ? 'it was given up' : `"${url.host}" did not answer: ${error.message}`));
    };
    let onward: ClientRequest;
    try {
      onward = requestServer({
        method,
        path: url.pathname + url.search,
        headers: headersOf(request, url),
        maxHeaderSize: 64 * 1024,
        createConnection: () => (isTls ? encrypted(socket, url.hostname, ca) : socket),
      });
    } catch (error) {
      // A header that is none.
      return fail(error as Error);
    }
    // One that wants another protocol is closed without a word.
    onward.on('close', () => reject(new Error(`"${url.host}" did not answer: it closed the connection`)));
    onward.on('error', fail).on('response', (answer) => {
      answer.once('close', () => socket.destroy());
      resolve(answer);
    });
    onward.end(body);
  });
}

function encrypted(socket: Socket, hostname: string, ca: string | undefined): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const tls = connectTls({ socket, host, ...(isIP(host) ? {} : { servername: host }), ...(ca === undefined ? {} : { ca }) });
  // What is wrong with it is said of the one on top.
  socket.on('error', (error) => tls.destroy(error));
  return tls;
}

function headersOf({ headers, body, method }: RelayRequest, url: URL): string[] {
  const kept = headers.filter(([name]) => !ours.has(name.toLowerCase())).flat();
  const length = body || ['POST', 'PUT', 'PATCH'].includes(method) ? ['content-length', String(body?.byteLength ?? 0)] : [];
  return ['host', url.host, 'connection', 'close', 'accept-encoding', 'identity', ...length, ...kept];
}

function isRedirect({ statusCode, headers }: IncomingMessage): boolean {
  return [301, 302, 303, 307, 308].includes(statusCode ?? 0) && headers.location !== undefined;
}

function nextOf({ headers: { location = '' } }: IncomingMessage, url: URL): URL {
  if (!URL.canParse(location, url.href)) throw new Error(`"${url.host}" leads on to what is no address`);
  const next = new URL(location, url);
  // The rest of the address belongs to whoever asked.
  if (next.hash === '') next.hash = url.hash;
  return next;
}

/** As browsers do: what was sent is not sent again where the answer says "see other". */
function redirected(request: RelayRequest, { from, to, status }: { from: URL; to: URL; status: number }): RelayRequest {
  const becomesGet = (status === 303 && request.method !== 'HEAD') || ((status === 301 || status === 302) && request.method === 'POST');
  const headers = request.headers.filter(
    ([name]) => (from.origin === to.origin || !personal.has(name.toLowerCase())) && !(becomesGet && /^content-/i.test(name)),
  );
  return { ...request, url: to.href, headers, ...(becomesGet ? { method: 'GET', body: undefined } : {}) };
}

function toResponse(answer: IncomingMessage, { href }: URL): RelayResponse {
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2)
    headers.push([(answer.rawHeaders[at] ?? '').toLowerCase(), answer.rawHeaders[at + 1] ?? '']);
  return { status: answer.statusCode ?? 0, statusText: answer.statusMessage ?? '', url: href, headers, body: answer };
}
