import type { IncomingMessage } from 'node:http';
import type { TypedCodes } from '@notebridge/system/net/entry-gate';
import { findHeadFault, type HeadFault, pathOf } from '@notebridge/system/net/request-head';
import type { BoundedConnections } from './connections.js';
import type { WindowTickets } from './window-tickets.js';

/** How windows come in. */
export interface WindowAccess {
  /** Where windows connect, on 127.0.0.1 and ::1. Default 0: any free port. */
  port?: number | undefined;
  /** Values of `Host`, besides the loopback ones, that a browser may send; with or without the port. */
  allowHosts?: readonly string[] | undefined;
  /** Origins, besides the host's own, that a window may come from, compared exactly. */
  allowOrigins?: readonly string[] | undefined;
  /** Bounds the connections that others hold to this process. Default: 256 of this host that are not windows. */
  connections?: BoundedConnections | undefined;
  /** Called with the reason why a window was not let in (`wrong_host`, `wrong_origin`, `missing`, `malformed`, `expired`, `unknown` or `other_user`), and its address. Default: it is logged. */
  onRefused?: ((why: string, remoteAddress: string | undefined) => void) | undefined;
  /** Codes for windows of other users and machines. Default: there are none, and no such window. */
  typedCodes?: TypedCodes | undefined;
  /** The browser that draws charts for agents while no window is open; false for none. Default: a Chromium that is installed, if there is one. */
  headless?: string | false | undefined;
}

/** Why a connection was not let in. `failedToken` marks tries at guessing, which are slowed down. */
export interface WindowRefusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 503;
  readonly reason: string;
  readonly failedToken: boolean;
  /** The reason as a code, for an audit; left out for what is no attempt to get in. */
  readonly why?: 'wrong_host' | 'wrong_origin' | 'missing' | 'unknown' | 'other_user';
}

export interface WindowAdmissionRules {
  /** Values of `Host` that name this server, lower case. */
  readonly hosts: ReadonlySet<string>;
  /** Origins besides `http://` and the request's own `Host`, compared exactly. */
  readonly origins: ReadonlySet<string>;
  readonly tickets: WindowTickets;
}

const viewerPath = '/viewer';
export const viewerSubprotocol = 'notebridge-viewer';

/**
 * Everything that is checked before a window's socket is upgraded, from what anyone can see to what only the holder of the windows'
 * key knows: method, path, Host (DNS rebinding), Origin (foreign pages), subprotocol, ticket.
 */
export function findRefusal(request: IncomingMessage, { hosts, origins, tickets }: WindowAdmissionRules): WindowRefusal | undefined {
  if (request.method !== 'GET') return refuse(405, 'Only GET is answered here.');
  if (pathOf(request) !== viewerPath) return refuse(404, 'Nothing is served at this path.');
  const fault = findHeadFault(request, { hosts, allowsOrigin: () => isOwnOrigin(request, origins) });
  if (fault !== undefined) return headRefusals[fault];
  if (!offersSubprotocol(request)) return refuse(400, `The WebSocket subprotocol "${viewerSubprotocol}" is required.`);
  const given = new URLSearchParams(request.url?.slice(viewerPath.length)).getAll('ticket');
  if (given.length === 0) return { ...refuse(401, 'A ticket is required. Open a new address of Notebridge.'), why: 'missing' };
  if (given.length > 1 || !tickets.redeem(given[0] ?? '', request.headers.origin ?? '')) {
    const refusal = refuse(403, 'The ticket is wrong or has ended. Open a new address of Notebridge.');
    return { ...refusal, why: 'unknown', failedToken: true };
  }
  return undefined;
}

const repeatedHeader = refuse(400, 'The header Host or Authorization was sent twice.');
/** The texts that windows and other clients of the port get. */
export const headRefusals: Record<HeadFault, WindowRefusal> = {
  repeated_host: repeatedHeader,
  repeated_authorization: repeatedHeader,
  wrong_host: { ...refuse(403, 'The Host header does not name this server.'), why: 'wrong_host' },
  wrong_origin: { ...refuse(403, 'This origin may not connect.'), why: 'wrong_origin' },
};

/** A page of another port of this machine is foreign, too: an agent's own browser is on localhost. */
export function isOwnOrigin({ headersDistinct, headers: { host = '' } }: IncomingMessage, origins: ReadonlySet<string>): boolean {
  const [origin, ...others] = headersDistinct.origin ?? [];
  if (origin === undefined || others.length > 0) return false;
  return origin === `http://${host.toLowerCase()}` || origins.has(origin);
}

function offersSubprotocol({ headers }: IncomingMessage): boolean {
  const offered = headers['sec-websocket-protocol']?.split(',') ?? [];
  return offered.some((name) => name.trim() === viewerSubprotocol);
}

function refuse(status: WindowRefusal['status'], reason: string): WindowRefusal {
  return { status, reason, failedToken: false };
}
