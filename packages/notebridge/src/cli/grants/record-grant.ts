import { join } from 'node:path';
import { loadConfig } from '../../config/load-config.js';
import type { GrantChange } from '../../grants/audit-line.js';
import { AuditLog } from '../../grants/audit-log.js';
import { stateDir } from '../../processes/state-dir.js';
import { Redactor } from '../../util/redactor.js';

/** Writes what a command has made of a grant into the audit of this user, as a hub does. A config that cannot be read names no other file. */
export async function recordGrant(change: GrantChange): Promise<void> {
  const { audit } = await loadConfig({ env: process.env }).catch(() => ({ audit: undefined }));
  if (audit === false) return;
  const log = new AuditLog({ ...audit, path: audit?.file ?? join(stateDir(), 'audit.jsonl'), redactor: new Redactor() });
  log.addGrant(change);
  log.close();
}
