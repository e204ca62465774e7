import { askInventories } from '@notebridge/cluster/ask-inventories';
import { claimPrefix, parseClaimEntry } from '@notebridge/cluster/claim-entries';
import type { ClusterBus } from '@notebridge/cluster/cluster-bus';
import { fromKeyPart, type HubView } from '@notebridge/cluster/cluster-parts';
import type { ToldInventory } from '@notebridge/cluster/inventory-messages';
import { hubPrefix, parseLeaseEntry, printLeaseEntry } from '@notebridge/cluster/lease-entries';
import { createSignedStore } from '@notebridge/cluster/signed-store';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { systemRuntime } from '@notebridge/protocol/util/runtime';
import type { SharedStore } from '@notebridge/system/files/shared-store';

/** What a hub has. */
export interface ResourceOfHub {
  /** `server`, `notebook`, `page`. */
  kind: string;
  name: string;
  /** Of its claim. Left out: it is the hub's own, and no other can have it. */
  epoch?: number;
  about: JsonObject;
}

/** A hub, and what it has: what it claims, and, of one that was asked, what it has for itself. */
export interface HubOfCluster extends HubView {
  has: ResourceOfHub[];
}

/** What a hub has said of itself, or has not. */
export interface AskedHub extends HubOfCluster {
  /** False: it was asked what it has for itself, and said nothing. */
  answers: boolean;
  /** How many more servers and notebooks of its own it has than are listed. */
  more: ToldInventory['more'];
  /** What there does not answer, for people. */
  silent: string[];
}

export interface ClusterSight {
  /** In the order in which they joined. */
  hubs: HubOfCluster[];
  /** Entries of hubs that were written with another key than this one. */
  foreign: number;
}

/** Reads who is there and who has what, by the store alone. It may be old, and nothing is written. */
export async function lookAtCluster(bare: SharedStore, { key, name }: { key: Buffer; name: string }): Promise<ClusterSight> {
  const store = createSignedStore(bare, { key, name, logger: silentLogger });
  const [leases, claims, all] = await Promise.all([store.list(hubPrefix), store.list(claimPrefix), bare.list(hubPrefix)]);
  const hubs = leases.flatMap(({ value }) => {
    const entry = parseLeaseEntry(value);
    return entry === undefined || entry === 'ended' ? [] : [{ ...entry.view, has: [] as ResourceOfHub[] }];
  });
  const ours = new Set(leases.map(({ key }) => key));
  // The mark of a hub that has ended stands there for a minute. Without its key this is a guess, and nothing but a count hangs on it.
  const foreign = all.filter(({ key, value }) => !ours.has(key) && !value.endsWith(printLeaseEntry('ended')));
  const byId = new Map(hubs.map((hub) => [hub.id, hub]));
  for (const { key: place, value } of claims) {
    const claim = parseClaimEntry(value);
    if (claim?.hub == null) continue;
    byId.get(claim.hub)?.has.push({ ...nameOf(place.slice(claimPrefix.length)), epoch: claim.epoch, about: claim.about });
  }
  return { hubs: [...hubs].sort((one, other) => one.startedAt - other.startedAt), foreign: foreign.length };
}

export interface AskHubsOptions {
  bus: ClusterBus;
  key: Buffer;
  /** Name of the cluster. */
  name: string;
  timeoutMs: number;
}

/** Asks each hub what it has for itself, of which nothing stands in the store: a notebook at rest costs the cluster nothing. Never rejects. */
export async function askHubs(hubs: readonly HubOfCluster[], { bus, key, name, timeoutMs }: AskHubsOptions): Promise<AskedHub[]> {
  const ids = hubs.map(({ id }) => id);
  const answers = await askInventories({ bus, runtime: systemRuntime, cluster: name, key, hubs: ids, timeoutMs });
  return hubs.map((hub) => {
    const answer = answers.get(hub.id);
    if (answer === undefined) return { ...hub, answers: false, more: { servers: 0, notebooks: 0 }, silent: [] };
    const { servers, notebooks, more, silent } = answer;
    const own = [...servers.map((one) => ({ kind: 'server', ...one })), ...notebooks.map((one) => ({ kind: 'notebook', ...one }))];
    return { ...hub, has: [...hub.has, ...own], answers: true, more, silent };
  });
}

/** `server.github`: of a longer one the last part is the name. */
function nameOf(resource: string): { kind: string; name: string } {
  const dot = resource.lastIndexOf('.');
  return { kind: resource.slice(0, Math.max(0, dot)), name: fromKeyPart(resource.slice(dot + 1)) };
}
