import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSecret } from '../identity/secret.js';
import { type Authority, createAuthority } from './authority.js';
import type { GrantDoor } from './grant.js';
import { GrantStore } from './grant-store.js';

const ownerToken = createSecret('nbo_');
let dir: string;
let clock: number;
let store: GrantStore;
let authority: Authority;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-authority-'));
  clock = 1_800_000_000_000;
  store = await GrantStore.open({ dir, now: () => clock });
  authority = createAuthority({ store, ownerToken });
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

function refusal(authorization: string | undefined, door: GrantDoor = 'tools'): BridgeError {
  try {
    void authority.authenticate(authorization, door);
  } catch (error) {
    if (error instanceof BridgeError && error.code === 'bad_grant') return error;
    throw error;
  }
  throw new Error('was let in');
}

describe('createAuthority', () => {
  it('identifies the owner at both doors, and a grant at its own', async () => {
    const { token, id } = await store.issue({ door: 'agent' });
    for (const door of ['tools', 'agent'] as const) expect(authority.authenticate(`Bearer ${ownerToken}`, door)).toEqual({ kind: 'owner' });
    expect(authority.authenticate(`bearer  ${token}`, 'agent')).toEqual({ kind: 'grant', grantId: id });
    expect(refusal(`Bearer ${token}`, 'tools').data).toEqual({ reason: 'wrong_door', grant_id: id });
  });

  it.each([
    [undefined, 'missing'],
    ['', 'missing'],
    ['Bearer', 'malformed'],
    ['Bearer a b', 'malformed'],
    ['Basic eDp5', 'malformed'],
    [`Bearer ${'a'.repeat(100_000)}`, 'malformed'],
    ['Bearer guessed', 'unknown'],
    [`Bearer ${createSecret('nbo_')}`, 'unknown'],
    [`Bearer ${createSecret('nbg_')}`, 'unknown'],
    [`Bearer ${'A'.repeat(43)}`, 'unknown'],
  ])('refuses %.30j: %s', (header, reason) => {
    expect(refusal(header).data).toEqual({ reason });
  });

  it('says that a grant has expired or was revoked, and shows no token', async () => {
    const [expired, revoked] = [await store.issue({ ttlMs: 1 }), await store.issue()];
    await store.revoke(revoked.id);
    clock += 1;
    for (const [{ token, id }, reason] of [
      [expired, 'expired'],
      [revoked, 'revoked'],
    ] as const) {
      const error = refusal(`Bearer ${token}`);
      expect(error.data).toEqual({ reason, grant_id: id });
      expect(JSON.stringify([error.message, error.data, error.stack])).not.toContain(token.slice(4));
    }
  });

  it('a hub without auth lets in callers without a valid token as anonymous, and still holds a grant to be one', async () => {
    const open = createAuthority({ store, ownerToken, noAuth: true });
    const { token, id } = await store.issue();
    expect(open.authenticate(undefined, 'tools')).toEqual({ kind: 'anonymous' });
    expect(open.authenticate('Bearer nonsense', 'tools')).toEqual({ kind: 'anonymous' });
    expect(open.authenticate(`Bearer ${token}`, 'tools')).toEqual({ kind: 'grant', grantId: id });
  });
});
