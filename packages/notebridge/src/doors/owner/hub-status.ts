import type { HubReport, ServerReport } from '../../catalog/describe-servers.js';
import type { WatchedConfig } from '../../config/config-edit.js';
import type { PendingApprovals } from '../../grants/approvals/pending-approvals.js';
import type { RecentCalls } from '../../recent/recent-calls.js';
import { ownVersion } from '../../state/own-files.js';
import { type ClusterStatus, type DescribedCluster, describeCluster } from './cluster-status.js';

/** The hub on one screen. Printed as it is by `notebridge status --json`. */
export interface HubStatus {
  /** Who asks: the owner, or the holder of a grant that only watches. */
  role: 'owner' | 'watcher';
  version: string;
  pid: number;
  /** ISO 8601. */
  started_at: string;
  /** The config that it was started with; null: none. */
  config_file: string | null;
  /** Why the file as it is now is not used, in one line; null: it is. What held before goes on. */
  config_fault: string | null;
  /** True if agents call tools by code. */
  code_mode: boolean;
  servers: Omit<ServerReport, 'tools'>[];
  calls: { made: number; failed: number; running: number };
  /** Calls that wait for the owner. */
  approvals: number;
  /** Grants that are live. */
  grants: number;
  /** Left out: this hub is alone. */
  cluster?: ClusterStatus;
}

export interface DescribedHub {
  describe: () => HubReport;
  pending: PendingApprovals;
  calls: RecentCalls;
  countGrants: () => number;
  configFile: string | undefined;
  edits: Pick<WatchedConfig, 'refused'>;
  cluster: DescribedCluster | undefined;
  isCodeMode: boolean;
  pid: number;
}

const startedAt = new Date(Date.now() - performance.now()).toISOString();

export function describeHub(
  { describe, pending, calls, countGrants, configFile, edits, cluster, isCodeMode, pid }: DescribedHub,
  role: HubStatus['role'],
): HubStatus {
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
    calls: { ...calls.totals },
    approvals: pending.list().length,
    grants: countGrants(),
    ...(cluster !== undefined && { cluster: describeCluster(cluster, role === 'owner') }),
  };
}
