import type { HubReport } from '../../catalog/describe-servers.js';
import type { WatchedCluster } from '../../cluster/watched-cluster.js';
import type { WatchedConfig } from '../../config/config-edit.js';
import type { PendingApprovals } from '../../grants/approvals/pending-approvals.js';
import type { GrantStore } from '../../grants/grant-store.js';
import type { RecentCalls } from '../../recent/recent-calls.js';
import { ownVersion } from '../../state/own-files.js';
import { describeCluster } from './cluster-status.js';
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
