import type { IncomingMessage } from 'node:http';
import { isSameToken } from './token.js';

/** Why a connection was not let in. `failedToken` marks tries at guessing, which are slowed down. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 503;
  readonly reason: string;
  readonly failedToken: boolean;
}

export interface AdmissionRules {
  /** Values of `Host` that name this server, lower case. */
  readonly hosts: ReadonlySet<string>;
  /** Origins beside `http://` and the request's own `Host`, to the letter. */
  readonly origins: ReadonlySet<string>;
  readonly token: string;
}

const viewerPath = '/viewer';
export const viewerSubprotocol = 'notebridge-viewer';

/**
 * Everything that is checked before a window's socket is upgraded, from what anyone can see to what only the holder of the token
 * knows: method, path, Host (DNS rebinding), Origin (foreign pages), subprotocol, token.
 */
export function findRefusal(request: IncomingMessage, { hosts, origins, token }: AdmissionRules): Refusal | undefined {
  if (request.method !== 'GET') return refuse(405, 'Only GET is answered here.');
  if (pathOf(request) !== viewerPath) return refuse(404, 'Nothing is served at this path.');
  if (!namesHost(request, hosts)) return refuse(403, 'The Host header does not name this server.');
  if (!isOwnOrigin(request, origins)) return refuse(403, 'This origin may not connect.');
  if (!offersSubprotocol(request)) return refuse(400, `The WebSocket subprotocol "${viewerSubprotocol}" is required.`);
  const given = new URLSearchParams(request.url?.slice(viewerPath.length)).getAll('token');
  if (given.length === 0) return refuse(401, 'A token is required. Open the whole address that Notebridge has printed.');
  if (given.length > 1 || !isSameToken(given[0] ?? '', token)) {
    return { ...refuse(403, 'The token is wrong or has ended. Open the address that Notebridge has printed last.'), failedToken: true };
  }
  return undefined;
}

/** The target before its query, to the letter: nothing is decoded or normalised, so only one spelling of a path fits. */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

/** True if the one `Host` header of the request is among `hosts`. */
export function namesHost({ headersDistinct }: IncomingMessage, hosts: ReadonlySet<string>): boolean {
  const [host, ...others] = headersDistinct.host ?? [];
  return host !== undefined && others.length === 0 && hosts.has(host.toLowerCase());
}

/** A page of another port of this machine is foreign, too: an agent's own browser is on localhost. */
function isOwnOrigin({ headersDistinct, headers: { host = '' } }: IncomingMessage, origins: ReadonlySet<string>): boolean {
  const [origin, ...others] = headersDistinct.origin ?? [];
  if (origin === undefined || others.length > 0) return false;
  return origin === `http://${host.toLowerCase()}` || origins.has(origin);
}

function offersSubprotocol({ headers }: IncomingMessage): boolean {
  const offered = headers['sec-websocket-protocol']?.split(',') ?? [];
  return offered.some((name) => name.trim() === viewerSubprotocol);
}

function refuse(status: Refusal['status'], reason: string): Refusal {
  return { status, reason, failedToken: false };
}
