import type { JsonObject } from '@notebridge/kit/json';
import { BridgeError, codeOf } from '../../core/errors.js';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import type { GrantTerms, GrantView } from '../../grants/grant.js';
import type { IssuedGrant } from '../../grants/grant-store.js';
import { askOwner } from '../client/hub-request.js';
import { chooseHub } from '../hub/choose-hub.js';
import { withGrantStore } from './own-grants.js';

/** Where the owner issues and revokes grants: the user's file, or a cluster, by the hub that runs here. */
export interface GrantDesk {
  issue(terms: GrantTerms): Promise<IssuedGrant>;
  /** A new token for a grant, which lives so long from now; see `GrantStore.renew`. Rejects with `bad_grant` if there is no such grant. */
  renew(id: string, ttlMs?: number): Promise<IssuedGrant>;
  list(): Promise<GrantView[]>;
  /** False if there is no grant of that id that could be revoked. One that has expired can be: it is not renewed then. */
  revoke(id: string): Promise<boolean>;
}

const timeoutMs = 15_000;

/**
 * Uses the desk of this user. If the hub that runs is one of a cluster, all is done there: its grants are in no file. Rejects with `closed` if the
 * config names a cluster, and no hub runs.
 */
export async function withGrantDesk<Result>(work: (desk: GrantDesk) => Promise<Result>): Promise<Result> {
  const desk = await findClusterDesk();
  if (desk !== undefined) return work(desk);
  return withGrantStore((store) =>
    work({
      issue: (terms) => store.issue(terms),
      renew: (id, ttlMs) => store.renew(id, ttlMs),
      list: async () => store.list(),
      revoke: (id) => store.revoke(id),
    }),
  );
}

/** Undefined: the grants of this user are in its file. */
export async function findClusterDesk(): Promise<GrantDesk | undefined> {
  // Nothing is loaded for it where no hub has ever run.
  const hub = chooseHub() === undefined ? undefined : await (await import('../client/open-source.js')).findHub();
  if (hub !== undefined) return (await isInCluster(hub)) ? createHubDesk(hub) : undefined;
  const { loadConfig } = await import('../../config/load-config.js');
  const { cluster } = await loadConfig({ env: process.env }).catch(() => ({ cluster: undefined }));
  if (cluster === undefined) return undefined;
  throw new BridgeError(
    'closed',
    `The grants of this machine are those of the cluster "${cluster.name}", and no hub of yours runs that could reach it. Start one: notebridge serve`,
  );
}

type OwnHub = { url: string; token: string };

/** Whether this hub is one of a cluster. */
export async function isInCluster(hub: OwnHub): Promise<boolean> {
  return (await askOwner<'Grants'>(hub, '/grants', { timeoutMs })).in_cluster === true;
}

function createHubDesk(hub: OwnHub): GrantDesk {
  const pathOf = (id: string): string => `/grants/${encodeURIComponent(id)}`;
  return {
    issue: async (terms) => toIssued(await askOwner<'IssuedGrant'>(hub, '/grants', { body: toBody(terms), timeoutMs })),
    renew: async (id, ttlMs) => {
      try {
        return toIssued(await askOwner<'IssuedGrant'>(hub, `${pathOf(id)}/renew`, { body: toBody({ ttlMs }), timeoutMs }));
      } catch (error) {
        if (codeOf(error) !== 'bad_params' || !(error instanceof Error)) throw error;
        throw new BridgeError('bad_grant', error.message, { cause: error });
      }
    },
    list: async () => (await askOwner<'Grants'>(hub, '/grants', { timeoutMs })).grants.map(toView),
    revoke: async (id) => {
      try {
        await askOwner<'Revoked'>(hub, pathOf(id), { method: 'DELETE', timeoutMs });
        return true;
      } catch (error) {
        if (codeOf(error) === 'bad_params') return false;
        throw error;
      }
    },
  };
}

function toBody({ ttlMs, readOnly, perMinute, holder: _, ...terms }: GrantTerms): JsonObject {
  const body = { ...terms, read_only: readOnly, per_minute: perMinute, ttl_seconds: ttlMs === undefined ? undefined : ttlMs / 1000 };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

function toIssued({ grant, token }: OwnerBody<'IssuedGrant'>): IssuedGrant {
  return { ...toView(grant), token };
}

function toView({ read_only, created_at, expires_at, per_minute, ...grant }: OwnerBody<'Grant'>): GrantView {
  return {
    ...grant,
    label: grant.label ?? undefined,
    readOnly: read_only,
    createdAt: Date.parse(created_at),
    expiresAt: Date.parse(expires_at),
    calls: grant.calls ?? undefined,
    perMinute: per_minute ?? undefined,
    concurrent: grant.concurrent ?? undefined,
  };
}
