import type { ClusterFacts, HubFacts, WatchedCluster } from '@notebridge/cluster/watched-cluster';
import { ownVersion } from '@notebridge/system/files/own-files';
import type { HubReport } from '../../catalog/describe-servers.js';
import type { WatchedConfig } from '../../config/config-edit.js';
import type { PendingApprovals } from '../../grants/approvals/pending-approvals.js';
import type { GrantStore } from '../../grants/grant-store.js';
import type { RecentCalls } from '../../recent/recent-calls.js';
import type { OwnerBody } from './owner-schemas.js';

export interface DescribedHub {
  describe: () => HubReport;
  pending: PendingApprovals;
  calls: RecentCalls;
  store: Pick<GrantStore, 'list' | 'isCurrent'>;
  configFile: string | undefined;
  edits: Pick<WatchedConfig, 'refused'>;
  /** Undefined: this hub is alone. */
  cluster: WatchedCluster | undefined;
  isCodeMode: boolean;
  pid: number;
}

const startedAt = new Date(Date.now() - performance.now()).toISOString();

/** The hub on one screen. Printed as it is by `notebridge status --json`. */
export function describeHub(
  { describe, pending, calls, store, configFile, edits, cluster, isCodeMode, pid }: DescribedHub,
  role: OwnerBody<'Hub'>['role'],
): OwnerBody<'Hub'> {
  return {
    role,
    version: ownVersion(),
    pid,
    started_at: startedAt,
    config_file: configFile ?? null,
    // It quotes the file.
    config_fault: role === 'owner' ? (edits.refused?.message ?? null) : null,
    code_mode: isCodeMode,
    servers: describe().servers.map(({ tools: _, ...report }) => report),
    calls: calls.totals,
    approvals: pending.list().length,
    grants: store.list().length,
    ...(cluster !== undefined && {
      cluster: describeCluster(cluster.describe(), { areGrantsRefused: !store.isCurrent, isOwner: role === 'owner' }),
    }),
  };
}

/** What the last edit of the config did, and why the file as it is now is not used, if it is not. */
export function describeConfig({ edit, refused }: WatchedConfig, file: string | undefined): OwnerBody<'Config'> {
  return {
    file: file ?? null,
    edit: edit === undefined ? null : { ...edit, at: new Date(edit.at).toISOString() },
    refused:
      refused === undefined
        ? null
        : {
            at: new Date(refused.at).toISOString(),
            message: refused.message,
            file: refused.file ?? null,
            faults: refused.faults.map(({ line, ...fault }) => ({ line: line ?? null, ...fault })),
          },
  };
}

type ClusterState = OwnerBody<'Cluster'>['state'];

/** A text that another hub says of itself is cut to this. Characters. */
const longestText = 200;

function describeCluster(
  known: ClusterFacts,
  { areGrantsRefused, isOwner }: { areGrantsRefused: boolean; isOwner: boolean },
): OwnerBody<'Cluster'> {
  const { name, nats, hubs } = known;
  const state = stateOf(known);
  const since = known.drainingSince ?? (state === 'cut_off' ? nats.since : known.lease.since);
  return {
    name,
    state,
    since: toTime(since),
    text: textOf(known, state, areGrantsRefused),
    nats: { connected: nats.isConnected, since: toTime(nats.since) },
    grants_refused: areGrantsRefused,
    hubs: hubs.map((hub) => toHub(hub, isOwner)),
  };
}

function stateOf({ refusal, hasJoined, nats, lease, drainingSince }: ClusterFacts): ClusterState {
  if (drainingSince !== undefined) return 'draining';
  if (refusal !== undefined) return 'refused';
  if (!lease.isHeld) return hasJoined ? 'lost' : 'joining';
  return nats.isConnected ? 'joined' : 'cut_off';
}

const refusedGrants = 'Grants are refused; the owner’s token still opens.';
const stopped = 'Calls to other hubs fail, and servers with `placement: one` have stopped here.';
const goesOn = 'Its other servers, its notebooks and the pages that are connected here go on for its own callers.';
const byItself = 'It joins again by itself when NATS answers.';

function textOf({ nats, refusal = '' }: ClusterFacts, state: ClusterState, areGrantsRefused: boolean): string | null {
  switch (state) {
    case 'joined':
      return areGrantsRefused ? 'Grants are refused just now: what NATS has told last is more than five seconds old.' : null;
    case 'cut_off':
      return `This hub has lost the connection to NATS and tries to get it back. ${
        areGrantsRefused ? refusedGrants : 'If that takes more than five seconds, grants are refused.'
      } Some seconds later it loses its place in the cluster, and what other hubs can take over stops here.`;
    case 'lost':
      return `${
        nats.isConnected
          ? 'NATS answers, and does not keep this hub’s place in the cluster: it may have too few servers to decide, or a full disk.'
          : 'This hub has lost NATS, and its place in the cluster.'
      } ${areGrantsRefused ? `${refusedGrants} ` : ''}${stopped} ${goesOn} ${byItself}`;
    case 'joining':
      return `${
        nats.isConnected ? 'This hub has no place in the cluster yet.' : 'This hub has not reached NATS yet.'
      } It serves its own callers, and goes on trying. ${areGrantsRefused ? refusedGrants : ''}`.trimEnd();
    case 'refused':
      return `This hub does not join its cluster until it is started again: ${refusal} It serves its own callers. ${
        areGrantsRefused ? refusedGrants : ''
      }`.trimEnd();
    case 'draining':
      return 'This hub ends: it takes nothing more, and other hubs take over what it has.';
  }
}

function toHub(
  { id, name, isSelf, version, startedAt, url, load, isDraining, servers, pages }: HubFacts,
  isOwner: boolean,
): OwnerBody<'HubOfCluster'> {
  return {
    id,
    name: toShort(name),
    is_this: isSelf,
    version: toShort(version),
    started_at: toTime(startedAt),
    address: url === undefined ? null : toShort(url),
    calls: load,
    draining: isDraining,
    servers: {
      count: servers.count,
      first: servers.first.map((server) => ({ name: toShort(server.name), status: toShort(server.status) })),
    },
    pages: {
      count: pages.count,
      first: isOwner ? pages.first.map((page) => ({ id: toShort(page.id), title: toShort(page.title) })) : [],
    },
  };
}

/** Another hub's clock may say anything. */
function toTime(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? new Date(0).toISOString() : time.toISOString();
}

function toShort(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text;
}
