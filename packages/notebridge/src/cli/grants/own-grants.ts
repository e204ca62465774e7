import { join } from 'node:path';
import type { GrantChange } from '../../grants/audit-line.js';
import { GrantStore } from '../../grants/grant-store.js';
import { stateDir } from '../../processes/state-dir.js';

/** Runs the work with the grants of this user, whose changes go into the audit. */
export async function withGrantStore<Result>(work: (store: GrantStore) => Promise<Result>): Promise<Result> {
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
  const { Redactor } = await import('../../util/redactor.js');
  const { audit } = await loadConfig({ env: process.env }).catch(() => ({ audit: undefined }));
  if (audit === false) return;
  const log = new AuditLog({ ...audit, path: audit?.file ?? join(stateDir(), 'audit.jsonl'), redactor: new Redactor() });
  log.addGrant(change);
  log.close();
}
