import { isJsonObject } from '@notebridge/protocol/json';
import type { SealedTexts } from '@notebridge/protocol/util/sealed-text';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { endTimeOf, rememberedMs } from './ended-grants.js';
import { type Grant, parseGrant } from './grant.js';

/** A grant as the shared store has it. */
export interface SharedGrantEntry {
  grant: Grant;
  /** How often it has been written: an old entry that somebody has put back is found out. */
  version: number;
  /** The marks of the last writes, the newest last: who got no answer to a write learns by them whether it was made. */
  marks: readonly string[];
}

/** Of the form of entries. One of a newer form may hold bounds that this program does not know: it opens nothing here. */
const form = 1;
/** More than hubs that write one grant at the same time. */
const maxMarks = 24;
/** Whatever a hub's clock says, what it writes stays at least so long. */
const shortestTtlMs = 2 * 60 * 60_000;
export const grantPrefix = 'grant.';

export function keyOfGrant(id: string): string {
  return `${grantPrefix}${id}`;
}

/** The entry that follows another one. */
export function nextEntry(grant: Grant, mark: string, before?: SharedGrantEntry): SharedGrantEntry {
  const marks = [...(before?.marks ?? []).slice(1 - maxMarks), mark];
  return { grant, version: (before?.version ?? 0) + 1, marks };
}

export function printGrantEntry({ grant, version, marks }: SharedGrantEntry, seals: SealedTexts): string {
  return seals.seal(keyOfGrant(grant.id), JSON.stringify({ form, version, marks, grant }));
}

/** Undefined for what no hub of this cluster has written, or one of a newer version. */
export function readGrantEntry(key: string, value: string, seals: SealedTexts): SharedGrantEntry | undefined {
  const read = tryJson(seals.open(key, value) ?? '');
  if (!isJsonObject(read) || read.form !== form) return undefined;
  const grant = parseGrant(read.grant);
  if (grant === undefined || keyOfGrant(grant.id) !== key) return undefined;
  return { grant, version: Number(read.version), marks: read.marks as string[] };
}

/** How long the store is to keep it. It removes by itself what nobody need know any more. */
export function ttlOfGrant(grant: Grant, now: number): number {
  return Math.max(shortestTtlMs, endTimeOf(grant) + rememberedMs(grant) - now);
}
