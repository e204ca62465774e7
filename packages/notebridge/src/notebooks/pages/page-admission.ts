import type { IncomingMessage } from 'node:http';
import { digestOf } from '@notebridge/protocol/util/token';
import { findHeadFault, type HeadFault, pathOf } from '@notebridge/system/net/request-head';
import type { Slot } from './slot.js';
import type { FoundSlot, SlotFinder, SlotQuery } from './slot-finder.js';

/** Why a connection was not let in. `failedToken` marks tries at guessing, which are slowed down. */
export interface PageRefusal {
  status: 400 | 401 | 403 | 404 | 405 | 503;
  reason: string;
  /** The reason for the audit, one of our own words; left out for what is no attempt to get in. */
  why?: 'wrong_host' | 'wrong_origin' | 'missing' | 'malformed' | 'unknown' | 'other_user';
  failedToken: boolean;
}

/** The slot that a page may have, and what it showed for it; or what a slot is to be found by, elsewhere. */
export type PageAdmission = { slot: Slot; token: string; origin: string } | { query: SlotQuery; token: string } | { refusal: PageRefusal };

export interface PageAdmissionRules {
  slots: Iterable<Slot>;
  /** Values of `Host` that name this listener, lower case, port included. */
  hosts: ReadonlySet<string>;
  /** Where a token belongs that opens none of them. Left out: nowhere. */
  finder?: SlotFinder | undefined;
}

/** The subprotocol of the page; it drops the connection when it is not echoed. */
export const pageSubprotocol = 'mcp';

/**
 * Everything that is checked before a socket is upgraded, from what anyone can see to what only the holder of a token knows:
 * method, path, the rules of every port, subprotocol, token.
 */
export function admit(request: IncomingMessage, rules: PageAdmissionRules): PageAdmission {
  const slots = [...rules.slots];
  const { origin = '' } = request.headers;
  const allowsOrigin = (): boolean => slots.some((slot) => slot.allowsOrigin(origin)) || rules.finder?.allowsOrigin(origin) === true;

  if (request.method !== 'GET') return refuse(405, 'Only GET is answered here.');
  if (pathOf(request) !== '/') return refuse(404, 'Nothing is served at this path.');
  const fault = findHeadFault(request, { hosts: rules.hosts, allowsOrigin });
  if (fault !== undefined) return headRefusals[fault];
  if (!offersSubprotocol(request)) return refuse(400, 'The WebSocket subprotocol "mcp" is required.');

  const token = tokenOf(request);
  if (typeof token !== 'string') return { refusal: token };
  const digest = digestOf(token);
  const slot = slots.filter((candidate) => candidate.tokens.admitsDigest(digest)).at(0);
  if (slot === undefined) return rules.finder === undefined ? refuseFound('unknown') : { query: { digest, origin }, token };
  return slot.allowsOrigin(origin) ? { slot, token, origin } : headRefusals.wrong_origin;
}

/** What a page is told that came by a token of no slot. */
export function refuseFound(found: Extract<FoundSlot, 'unknown' | 'away' | 'wrong_origin'>): { refusal: PageRefusal } {
  if (found === 'wrong_origin') return headRefusals.wrong_origin;
  if (found === 'away') return refuse(503, 'Whose token this is cannot be known just now.', 'unknown', true);
  return refuse(403, 'The access token is wrong or has ended.', 'unknown', true);
}

/** The refusal of another user of this machine: who can read the address of a page need not be who was meant to open it. */
export const otherUser: PageRefusal = {
  status: 403,
  reason: 'This connection is of another user of this machine. Type the code of `notebridge code` at /connect first.',
  why: 'other_user',
  failedToken: false,
};

const repeatedHeader = refuse(400, 'The header Host or Authorization was sent twice.');
const headRefusals: Record<HeadFault, { refusal: PageRefusal }> = {
  repeated_host: repeatedHeader,
  repeated_authorization: repeatedHeader,
  wrong_host: refuse(403, 'The Host header does not name this server.', 'wrong_host'),
  wrong_origin: refuse(403, 'This origin may not connect.', 'wrong_origin'),
};

function refuse(status: PageRefusal['status'], reason: string, why?: PageRefusal['why'], failedToken = false): { refusal: PageRefusal } {
  return { refusal: { status, reason, failedToken, ...(why === undefined ? {} : { why }) } };
}

/** The token of the query, which is all that a page can send, else of the `Authorization` header. */
function tokenOf(request: IncomingMessage): string | PageRefusal {
  const query = request.url?.slice(pathOf(request).length);
  const inQuery = new URLSearchParams(query).getAll('access_token');
  if (inQuery.length > 1) return { status: 400, reason: 'More than one access_token was given.', why: 'malformed', failedToken: true };
  if (inQuery[0] !== undefined) return inQuery[0];
  const { authorization } = request.headers;
  if (authorization === undefined) return { status: 401, reason: 'An access token is required.', why: 'missing', failedToken: false };
  const bearer = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1];
  return bearer ?? { status: 400, reason: 'The Authorization header must read "Bearer <token>".', why: 'malformed', failedToken: true };
}

function offersSubprotocol(request: IncomingMessage): boolean {
  const offered = request.headers['sec-websocket-protocol']?.split(',') ?? [];
  return offered.some((name) => name.trim() === pageSubprotocol);
}
