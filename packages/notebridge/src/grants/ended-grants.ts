import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import { type Grant, maxTtlMs } from './grant.js';

/** Why a token opens nothing. `unverified`: nobody can tell now whether it does. */
export type EndOfGrant = 'unknown' | 'expired' | 'revoked' | 'unverified';

/** Ended grants stay this long, so that their holders learn why they are refused. */
const tellEndForMs = 60 * 60_000;
/** Those of holders stay as long as any may live: a token that was given before must not open them anew. */
const rememberHoldersMs = maxTtlMs;

/** When a grant ends or has ended, milliseconds since the epoch. */
export function endTimeOf({ revokedAt, expiresAt }: Grant): number {
  return Math.min(revokedAt ?? expiresAt, expiresAt);
}

/** How long a grant is remembered after its end, milliseconds. */
export function rememberedMs({ holder }: Grant): number {
  return holder === undefined ? tellEndForMs : rememberHoldersMs;
}

/** Those that live, and the newest of those that have ended, as long as they are remembered. `maxEnded`: of each kind. */
export function withoutOld(grants: readonly Grant[], now: number, maxEnded: number): Grant[] {
  const over = grants.filter((grant) => endTimeOf(grant) <= now).sort((a, b) => endTimeOf(b) - endTimeOf(a));
  const newest = (few: Grant[], forMs: number): Grant[] => few.slice(0, maxEnded).filter((grant) => now - endTimeOf(grant) < forMs);
  const ofHolders = over.filter(({ holder }) => holder !== undefined);
  const told = new Set([...newest(over, tellEndForMs), ...newest(ofHolders, rememberHoldersMs)]);
  return grants.filter((grant) => endTimeOf(grant) > now || told.has(grant));
}

/** The error of a grant that opens nothing any more, or of which nobody can tell. */
export function ended(id: string, reason: EndOfGrant): BridgeError {
  if (reason === 'unverified') return unverified(id);
  const what = reason === 'unknown' ? 'does not exist' : reason === 'expired' ? 'has expired' : 'was revoked';
  return new BridgeError('bad_grant', `The grant ${quote(id)} ${what}. Issue a new one with \`notebridge grant\`.`, {
    data: { reason, grant_id: id },
  });
}

/** The error where nobody can tell whether a grant still holds. */
export function unverified(id?: string): BridgeError {
  const which = id === undefined ? 'this token' : `the grant ${quote(id)}`;
  const message = `This hub has no contact with the store of its cluster, so it cannot tell whether ${which} still opens anything. Nothing was called. Try again soon, or at another hub.`;
  return new BridgeError('cluster_unavailable', message, {
    data: { reason: 'unverified', retry_after_s: 5, ...(id === undefined ? {} : { grant_id: id }) },
  });
}
