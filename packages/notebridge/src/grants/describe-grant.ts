import type { GrantView } from './grant.js';

/** A grant as JSON has it everywhere: names with underscores, times in ISO 8601. */
export function describeGrant(grant: GrantView) {
  const { id, label, allow, readOnly, door, createdAt, expiresAt, calls, perMinute, concurrent, used } = grant;
  return {
    id,
    label: label ?? null,
    allow,
    read_only: readOnly,
    door,
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    calls: calls ?? null,
    per_minute: perMinute ?? null,
    concurrent: concurrent ?? null,
    used,
  };
}
