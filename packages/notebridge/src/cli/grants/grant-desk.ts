import { join } from 'node:path';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { stateDir } from '@notebridge/system/processes/state-dir';
import type { OwnerBody, OwnerBodyName } from '../../doors/owner/owner-schemas.js';
import type { GrantChange } from '../../grants/audit-line.js';
import type { GrantView } from '../../grants/grant.js';
import { GrantStore, type IssuedGrant } from '../../grants/grant-store.js';
import { askOwner, type HubRequest } from '../hub/hub-request.js';
import { findHub, type OwnHub } from '../hub/own-hub.js';

/** Where the owner issues and revokes grants: the user's file, or a cluster, by the hub that runs here. */
export interface GrantDesk extends Pick<GrantStore, 'issue' | 'renew' | 'revoke'> {
  list(): GrantView[] | Promise<GrantView[]>;
}

const askMs = 15_000;

/**
 * Uses the desk of this user. If the hub that runs is one of a cluster, all is done there: its grants are in no file. Rejects with `closed` if the
 * config names a cluster, and no hub runs.
 */
export async function withGrantDesk<Result>(work: (desk: GrantDesk) => Promise<Result>): Promise<Result> {
  if ((await findClusterHub()) !== undefined) return work(clusterDesk);
  const store = await GrantStore.open({ dir: stateDir() });
  let recorded = Promise.resolve();
  store.onChange((change) => {
    recorded = recorded.then(() => recordGrant(change));
  });
  try {
    return await work(store);
  } finally {
    await store.close();
    await recorded;
  }
}

/** Writes what a command has made of a grant into the audit of this user, as a hub does. A config that cannot be read names no other file. */
async function recordGrant(change: GrantChange): Promise<void> {
  const { loadConfig } = await import('../../config/load-config.js');
  const { AuditLog } = await import('../../grants/audit-log.js');
  const { Redactor } = await import('@notebridge/protocol/util/redactor');
  const { audit } = await loadConfig({ env: process.env }).catch(() => ({ audit: undefined }));
  if (audit === false) return;
  const log = new AuditLog({ ...audit, path: audit?.file ?? join(stateDir(), 'audit.jsonl'), redactor: new Redactor() });
  log.add(change);
  log.close();
}

/** The hub of this user that is in a cluster. Undefined: the grants of this user are in its file. */
async function findClusterHub(): Promise<OwnHub | undefined> {
  const hub = await findHub();
  if (hub !== undefined) return (await isInCluster(hub)) ? hub : undefined;
  const { loadConfig } = await import('../../config/load-config.js');
  const { cluster } = await loadConfig({ env: process.env }).catch(() => ({ cluster: undefined }));
  if (cluster === undefined) return undefined;
  throw new BridgeError(
    'closed',
    `The grants of this machine are those of the cluster "${cluster.name}", and no hub of yours runs that could reach it. Start one: notebridge serve`,
  );
}

/** Whether this hub is one of a cluster. */
export async function isInCluster(hub: OwnHub): Promise<boolean> {
  return (await askOwner<'Grants'>(hub, '/grants', { timeoutMs: askMs })).in_cluster === true;
}

/** Asks whichever hub of the user's is in the cluster just now: it may be started again while a grant is kept. */
async function askCluster<Name extends OwnerBodyName>(below: string, more: HubRequest = {}): Promise<OwnerBody<Name>> {
  const hub = await findClusterHub();
  if (hub !== undefined) return askOwner<Name>(hub, `/grants${below}`, { timeoutMs: askMs, ...more });
  throw new BridgeError('closed', 'No hub of yours runs that is in the cluster of this grant. Start one: notebridge serve');
}

const clusterDesk: GrantDesk = {
  issue: async ({ ttlMs, readOnly, perMinute, holder: _, ...terms } = {}) => {
    const body = { ...terms, read_only: readOnly, per_minute: perMinute, ttl_seconds: ttlMs && ttlMs / 1000 };
    return toIssued(await askCluster<'IssuedGrant'>('', { body }));
  },
  renew: async (id, ttlMs) => {
    try {
      const body = { ttl_seconds: ttlMs && ttlMs / 1000 };
      return toIssued(await askCluster<'IssuedGrant'>(`/${encodeURIComponent(id)}/renew`, { body }));
    } catch (error) {
      if (codeOf(error) !== 'bad_params' || !(error instanceof Error)) throw error;
      throw new BridgeError('bad_grant', error.message, { cause: error });
    }
  },
  list: async () => (await askCluster<'Grants'>('')).grants.map(toView),
  revoke: async (id) => {
    try {
      await askCluster<'Revoked'>(`/${encodeURIComponent(id)}`, { method: 'DELETE' });
      return true;
    } catch (error) {
      if (codeOf(error) === 'bad_params') return false;
      throw error;
    }
  },
};

function toIssued({ grant, token }: OwnerBody<'IssuedGrant'>): IssuedGrant {
  return { ...toView(grant), token };
}

/** As `describeGrant` has made it. */
function toView({ read_only: readOnly, created_at, expires_at, per_minute: perMinute, ...grant }: OwnerBody<'Grant'>): GrantView {
  const given = Object.fromEntries(Object.entries({ ...grant, perMinute }).map(([name, value]) => [name, value ?? undefined]));
  const times = { createdAt: Date.parse(created_at), expiresAt: Date.parse(expires_at) };
  return { ...given, readOnly, ...times } as unknown as GrantView;
}
