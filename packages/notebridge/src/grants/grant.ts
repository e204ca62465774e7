import { randomBytes } from 'node:crypto';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { quote } from '@notebridge/protocol/util/quote';
import { type AllowList, allowsNothing, parseAllowList } from './allow-list.js';

/** Which door a grant opens: the tool proxy for code, the MCP doors for agents, or what shows how the hub is, without a call. Only one of them. */
export type GrantDoor = 'tools' | 'agent' | 'watch';

/** What is asked for when a grant is issued. */
export interface GrantTerms {
  /** Patterns `server:tool`. Default `*:*`; none of a grant that only watches, which has no other term than its time and label. */
  allow?: string[] | undefined;
  /** Only tools that are annotated with `readOnlyHint`. Default false. */
  readOnly?: boolean | undefined;
  /** Milliseconds until it ends. Default one hour, at most 30 days. */
  ttlMs?: number | undefined;
  /** Calls in its whole life. Default: as many as there are. */
  calls?: number | undefined;
  /** Calls per minute: so many at once, then at that pace. Default: no limit. */
  perMinute?: number | undefined;
  /** Calls under way at once. Default: no limit. */
  concurrent?: number | undefined;
  /** Default `tools`. */
  door?: GrantDoor | undefined;
  /** For people: who it is for. At most 200 characters. */
  label?: string | undefined;
  /** Whom another issuer vouches for, by a name that nobody else has. Left out: whoever has the token. */
  holder?: string | undefined;
}

/** A grant as people see it: everything but its token. */
export interface GrantView {
  id: string;
  label: string | undefined;
  allow: readonly string[];
  readOnly: boolean;
  door: GrantDoor;
  /** Milliseconds since the epoch. */
  createdAt: number;
  expiresAt: number;
  calls: number | undefined;
  perMinute: number | undefined;
  concurrent: number | undefined;
  /** Calls so far. Of a grant with `calls`, those that a process has taken in advance count until it gives them back. */
  used: number;
}

/** A grant as the file has it. Terms never change; only its tokens, its end and `used` do. */
export interface Grant extends GrantView {
  /** SHA-256 of the token, in hex. */
  hash: string;
  /** The token before this one, which still opens for a while after it was renewed. */
  previous: { hash: string; expiresAt: number } | undefined;
  revokedAt: number | undefined;
  holder: string | undefined;
}

/** A grant and its patterns, ready to be asked. */
export type LiveGrant = Grant & { readonly allowList: AllowList };

const defaultTtlMs = 60 * 60_000;
export const maxTtlMs = 30 * 24 * 60 * 60_000;
const maxLabel = 200;

/** Checks the terms and makes a grant of them. @throws BridgeError `bad_usage`, naming the term. */
export function createGrant(terms: GrantTerms, { hash, now }: { hash: string; now: number }): Grant {
  const { readOnly = false, door = 'tools', label } = terms;
  if (typeof readOnly !== 'boolean') throw bad('readOnly', 'true or false', readOnly);
  if (door !== 'tools' && door !== 'agent' && door !== 'watch') throw bad('door', '"tools", "agent" or "watch"', door);
  const { patterns } = door === 'watch' ? assertCallsNothing(terms) : parseAllowList(terms.allow ?? ['*:*']);
  // Control characters must not reach a terminal.
  const isLabel = label === undefined || (typeof label === 'string' && label.length <= maxLabel && !/\p{Cc}/u.test(label));
  if (!isLabel) throw bad('label', `a text of at most ${maxLabel} characters without control characters`, label);
  return {
    id: `g_${randomBytes(6).toString('hex')}`,
    label,
    allow: patterns,
    readOnly,
    door,
    createdAt: now,
    expiresAt: now + parseTtl(terms.ttlMs),
    calls: count('calls', terms.calls),
    perMinute: count('perMinute', terms.perMinute),
    concurrent: count('concurrent', terms.concurrent),
    used: 0,
    hash,
    previous: undefined,
    revokedAt: undefined,
    holder: terms.holder,
  };
}

/** What bounds calls has no meaning there, and who gave it meant something else. @throws BridgeError `bad_usage`. */
function assertCallsNothing({ allow = [], readOnly, calls, perMinute, concurrent }: GrantTerms): AllowList {
  const given = Object.entries({
    allow: allow.length === 0 ? undefined : allow,
    readOnly: readOnly || undefined,
    calls,
    perMinute,
    concurrent,
  });
  const [first] = given.filter(([, value]) => value !== undefined);
  if (first !== undefined) throw bad(first[0], 'left out of a grant that only watches, which calls nothing', first[1]);
  return allowsNothing;
}

/** @throws BridgeError `bad_usage` if it is no time to live. */
export function parseTtl(ttlMs: unknown = defaultTtlMs): number {
  if (typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs > 0 && ttlMs <= maxTtlMs) return ttlMs;
  throw bad('ttlMs', `a whole number from 1 to ${maxTtlMs} (30 days)`, ttlMs);
}

export function viewOf(grant: Grant): GrantView {
  const { hash: _hash, previous: _previous, revokedAt: _revokedAt, holder: _holder, ...view } = grant;
  return view;
}

export function toLive(grant: Grant): LiveGrant {
  return { ...grant, allowList: grant.door === 'watch' ? allowsNothing : parseAllowList(grant.allow) };
}

/** Reads a grant of the file. Undefined for what is none: one that we cannot read in full must not open anything. */
export function parseGrant(value: unknown): Grant | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, label, hash, createdAt, expiresAt, used, previous, revokedAt, holder } = value;
  if (typeof id !== 'string' || !/^g_[\da-f]{12}$/.test(id) || !isHash(hash) || !areCounts(createdAt, expiresAt, used)) return undefined;
  if (revokedAt !== undefined && !areCounts(revokedAt)) return undefined;
  if (previous !== undefined && !isPrevious(previous)) return undefined;
  if (holder !== undefined && typeof holder !== 'string') return undefined;
  try {
    const { allow, readOnly, door, calls, perMinute, concurrent } = value as GrantTerms;
    // Missing terms must not become the generous defaults.
    if (allow === undefined || readOnly === undefined || door === undefined) return undefined;
    const checked = createGrant({ allow, readOnly, door, calls, perMinute, concurrent, label: label as string }, { hash, now: 0 });
    const kept = { id, createdAt, expiresAt, used, previous, revokedAt, holder } as Pick<Grant, 'id' | 'createdAt' | 'expiresAt' | 'used'>;
    return { ...checked, ...kept };
  } catch {
    return undefined;
  }
}

function isPrevious(value: unknown): boolean {
  return isJsonObject(value) && isHash(value.hash) && areCounts(value.expiresAt);
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[\da-f]{64}$/.test(value);
}

function areCounts(...values: unknown[]): boolean {
  return values.every((value) => Number.isSafeInteger(value) && (value as number) >= 0);
}

function count(name: keyof JsonObject & string, value: unknown): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) > 0)) return value as number | undefined;
  throw bad(name, 'a whole number from 1', value);
}

function bad(name: string, expected: string, found: unknown): BridgeError {
  return new BridgeError('bad_usage', `A grant cannot be issued: \`${name}\` must be ${expected}, found ${quote(found)}.`, {
    data: { term: name },
  });
}
