import { type Grant, maxTtlMs } from './grant.js';

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
  const ended = grants.filter((grant) => endTimeOf(grant) <= now).sort((a, b) => endTimeOf(b) - endTimeOf(a));
  const newest = (few: Grant[], forMs: number): Grant[] => few.slice(0, maxEnded).filter((grant) => now - endTimeOf(grant) < forMs);
  const ofHolders = ended.filter(({ holder }) => holder !== undefined);
  const told = new Set([...newest(ended, tellEndForMs), ...newest(ofHolders, rememberHoldersMs)]);
  return grants.filter((grant) => endTimeOf(grant) > now || told.has(grant));
}
