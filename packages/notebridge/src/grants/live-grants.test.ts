import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BridgeError } from '@notebridge/protocol/core/errors';
import { owner, type Principal } from '@notebridge/protocol/core/principal';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { Admission } from './admission.js';
import { Delegations } from './delegations.js';
import { GrantStore } from './grant-store.js';
import { createGuard } from './guard.js';
import { LiveGrants } from './live-grants.js';

let dir: string;
let now: number;
let store: GrantStore;
let delegations: Delegations;
let live: LiveGrants;
let admission: Admission;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-live-'));
  now = Date.now();
  store = await GrantStore.open({ dir, now: () => now });
  delegations = new Delegations();
  admission = new Admission({ store, delegations });
  live = new LiveGrants((grantId) => admission.endOf(grantId));
});
afterEach(async () => {
  live.close();
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const grant = async (ttlMs = 3_600_000): Promise<Extract<Principal, { kind: 'grant' }>> => ({
  kind: 'grant',
  grantId: (await store.issue({ ttlMs })).id,
});
const ended = (principal: Principal): Promise<BridgeError> => new Promise((resolve) => live.whileLive(principal, resolve));

describe('what runs for a grant', { tags: ['P-644'] }, () => {
  it('is ended when another process has revoked it, and nobody else’s is', async () => {
    const [one, other] = [await grant(), await grant()];
    const told: string[] = [];
    for (const principal of [other, owner]) live.whileLive(principal, () => told.push('another'));
    const ending = ended(one);
    const command = await GrantStore.open({ dir });
    await command.revoke(one.grantId);
    await command.close();
    expect(await ending).toMatchObject({ code: 'bad_grant', data: { reason: 'revoked', grant_id: one.grantId } });
    expect(told).toEqual([]);
  });

  it('is ended by a clock that jumps over its end', async () => {
    const ending = ended(await grant());
    now += 2 * 3_600_000;
    expect(await ending).toMatchObject({ data: { reason: 'expired' } });
  });

  it('is ended with the grant of any of the callers that code runs for', async () => {
    const [one, other] = [await grant(), await grant()];
    const rights = delegations.delegate([one], { label: 'code' });
    const ending = ended(rights.principal);
    rights.join(other);
    await store.revoke(other.grantId);
    expect(await ending).toMatchObject({ data: { reason: 'revoked', grant_id: other.grantId } });
  });

  it('is answered at once, and cancelled, whatever becomes of it', async () => {
    const principal = await grant();
    const guard = createGuard({ admission, whileLive: live.whileLive, resolve: () => undefined, findTool: () => undefined });
    const caller = { sessionId: 's', door: 'http', era: 'legacy', clientInfo: undefined, principal } as const;
    const context = createContext('tools/call', { name: 'x' }, { caller });
    // A server that hears nothing.
    const answered = guard.onMessage(context, () => new Promise<JsonObject>(() => {}) as never);
    await store.revoke(principal.grantId);
    await expect(answered).rejects.toMatchObject({ code: 'bad_grant', data: { reason: 'revoked' } });
    expect(context.cancellation).toMatchObject({ callerWaits: true, reason: expect.stringContaining('was revoked') });
  });
});
