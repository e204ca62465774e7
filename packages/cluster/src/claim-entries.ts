import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { parseObject } from './lease-entries.js';

/** Where claims stand in the store. */
export const claimPrefix = 'claim.';

/** Who has a resource. The id of a hub is of one life of it, so an entry that names this hub was written by this life of it. */
export interface ClaimEntry {
  /** Null: nobody, since it was released. The epoch stays, so that the next one is higher. */
  hub: string | null;
  epoch: number;
  about: JsonObject;
}

export function printClaimEntry({ hub, epoch, about }: ClaimEntry): string {
  return JSON.stringify({ hub, epoch, about });
}

/** Undefined: it is not what a hub of ours has written. */
export function parseClaimEntry(text: string): ClaimEntry | undefined {
  const value = parseObject(text);
  if (!value) return undefined;
  const { hub, epoch, about } = value;
  if ((typeof hub !== 'string' && hub !== null) || typeof epoch !== 'number' || !Number.isSafeInteger(epoch)) return undefined;
  return { hub, epoch, about: isJsonObject(about) ? about : {} };
}
