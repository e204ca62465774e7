import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { type SharedStore, StoreConflict } from '@notebridge/system/files/shared-store';
import type { HubView } from './cluster-parts.js';

/** Where the leases of hubs stand in the store. */
export const hubPrefix = 'hub.';

/** The store drops a lease so long after its last renewal. */
export const leaseMs = 10_000;

/** An end mark is gone after this time. Who needs it after that writes another. */
export const endMarkMs = 60_000;

/** Hubs that are known to have ended, of which so many are remembered. */
const maxEnded = 1000;

/** The lease of a hub, or the mark that it has ended. `renewal` counts the writes of one life: by it a hub knows which of its own it reads. */
export type LeaseEntry = { view: HubView; renewal: number } | 'ended';

const endMark = JSON.stringify({ ended: true });

export function printLeaseEntry(entry: LeaseEntry): string {
  return entry === 'ended' ? endMark : JSON.stringify({ ...entry.view, renewal: entry.renewal });
}

/** Undefined: it is not what a hub of ours has written. Members that a newer hub has added are left out. */
export function parseLeaseEntry(text: string): LeaseEntry | undefined {
  const value = parseObject(text);
  if (!value) return undefined;
  if (value.ended === true) return 'ended';
  const { id, name, version, startedAt, url, askAt, load, isDraining, renewal, wire } = value;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof version !== 'string' || !isJsonObject(wire)) return undefined;
  const { newest, oldest } = wire;
  if (!isNumber(startedAt) || !isNumber(load) || !isNumber(renewal) || !isNumber(newest) || !isNumber(oldest)) return undefined;
  const view = { id, name, version, wire: { newest, oldest }, startedAt, load, isDraining: isDraining === true };
  const addresses = { ...(typeof url === 'string' && { url }), ...(typeof askAt === 'string' && { askAt }) };
  return { view: { ...view, ...addresses }, renewal };
}

/**
 * Ends a hub whose lease has run out. True: it is ended, for all and for good, since its next renewal meets another revision. False: it is
 * alive as far as is known. What was read before may have been old; this is decided by the write alone.
 */
export async function endIfGone(store: SharedStore, id: string): Promise<boolean> {
  const key = hubPrefix + id;
  try {
    await store.create(key, endMark, { ttlMs: endMarkMs });
    return true;
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error;
    const entry = await store.get(key);
    return entry !== undefined && parseLeaseEntry(entry.value) === 'ended';
  }
}

/**
 * Makes `endIfGone` remember. An id never comes back, so each is asked about until it has ended, and then no more: its hub may have had
 * thousands of things.
 */
export function rememberEnded(store: SharedStore): (id: string) => Promise<boolean> {
  const asked = new Map<string, Promise<boolean>>();
  return (id) => {
    const known = asked.get(id);
    if (known !== undefined) return known;
    const answer = endIfGone(store, id);
    keepLatest(asked, [id, answer], maxEnded);
    const forget = (): void => {
      if (asked.get(id) === answer) asked.delete(id);
    };
    answer.then((isEnded) => isEnded || forget(), forget);
    return answer;
  };
}

/**
 * Ends a hub whose lease stands there in this revision, although its time is over by far: somebody without the key has put it back. A hub that
 * has renewed it meanwhile is not ended.
 */
export async function endOverdue(store: SharedStore, id: string, revision: number): Promise<void> {
  await store.update(hubPrefix + id, endMark, revision, { ttlMs: endMarkMs });
}

/** Names that several of these hubs have: people, and ids such as `nb1@name`, mean one by it. */
export function sharedHubNames(hubs: readonly Pick<HubView, 'name'>[]): string[] {
  const names = hubs.map(({ name }) => name);
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
}

export function parseObject(text: string): JsonObject | undefined {
  const value = tryJson(text);
  return isJsonObject(value) ? value : undefined;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}
