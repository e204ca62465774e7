import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DelegationTerms } from '@notebridge/protocol/core/delegate-rights';
import { codeOf } from '@notebridge/protocol/core/errors';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { owner, type Principal } from '@notebridge/protocol/core/principal';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Admission } from './admission.js';
import type { Ticket } from './bounds.js';
import { Delegations } from './delegations.js';
import type { GrantTerms } from './grant.js';
import { GrantStore } from './grant-store.js';

const read: Tool = { name: 'read', inputSchema: {}, annotations: { readOnlyHint: true } };
const write: Tool = { name: 'write', inputSchema: {} };
const fs = (tool: string) => ({ server: 'fs', tool });

let dir: string;
let clock: number;
let store: GrantStore;
let delegations: Delegations;
let admission: Admission;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-delegations-'));
  clock = 0;
  store = await GrantStore.open({ dir });
  delegations = new Delegations();
  admission = new Admission({ store, delegations, now: () => clock });
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const grant = async (terms: GrantTerms): Promise<Principal & { kind: 'grant' }> => ({
  kind: 'grant',
  grantId: (await store.issue(terms)).id,
});
const delegate = (callers: Principal[], terms: Partial<DelegationTerms> = {}) =>
  delegations.delegate(callers, { label: 'an execution', ...terms });
const admit = async (principal: Principal, tool: Tool = write): Promise<Ticket> =>
  admission.rightsOf(principal).admit(fs(tool.name), () => tool);
const refusal = async (principal: Principal, tool?: Tool): Promise<unknown> => {
  const error = await admit(principal, tool).then(
    () => undefined,
    (caught: unknown) => caught,
  );
  const data = (error as { data?: { rule?: unknown; reason?: unknown } } | undefined)?.data;
  return error === undefined ? 'allowed' : `${codeOf(error)} ${data?.rule ?? data?.reason}`;
};

describe('Delegations', () => {
  it('give what every caller and the terms allow', async () => {
    const reader = await grant({ allow: ['fs:*'], readOnly: true });
    const narrow = await grant({ allow: ['fs:read', 'fs:write', 'git:*'] });
    const { principal } = delegate([reader, narrow, owner, { kind: 'anonymous' }], { allow: ['fs:*', 'git:*'] });
    expect(await refusal(principal, read)).toBe('allowed');
    expect(await refusal(principal, write)).toBe('denied readOnly');
    expect(() => admission.rightsOf(principal).admit({ server: 'git', tool: 'log' }, () => undefined)).toThrow(/fs:\*/);
    expect(admission.rightsOf(principal).needsTool(fs('read'))).toBe(true);
    expect(admission.rightsOf(principal).needsTool({ server: 'git', tool: 'log' })).toBe(false);
    expect([read, write].map((tool) => admission.rightsOf(principal).mayList(fs(tool.name), tool))).toEqual([true, false]);
    expect(admission.rightsOf(principal).mayListWhole('fs')).toBe(false);
    expect(admission.rightsOf(principal).mayHear({ method: 'notifications/message', server: 'git' })).toBe(false);
    expect(admission.rightsOf(principal).mayHear({ method: 'notifications/tools/list_changed' })).toBe(true);
    expect(() => admission.rightsOf(principal).admitWhole('fs')).toThrow(/all tools of "fs"/);
  });

  it('give what the owner may, but no more than the terms', async () => {
    const { principal } = delegate([owner], { allow: ['fs:read'] });
    expect(await refusal(principal, read)).toBe('allowed');
    expect(await refusal(principal, write)).toBe('denied allow');
    expect(admission.rightsOf(principal).label).toBe('an execution');
  });

  it('lose what a caller loses with the next call: tools by a join, all of it by a revocation or an end', { tags: ['P-443'] }, async () => {
    const [first, second] = [await grant({}), await grant({ allow: ['fs:read'] })];
    const rights = delegate([first]);
    expect(await refusal(rights.principal)).toBe('allowed');
    rights.join(second);
    rights.join(second);
    expect(await refusal(rights.principal)).toBe('denied allow');
    expect(await refusal(rights.principal, read)).toBe('allowed');
    await store.revoke(first.grantId);
    expect(await refusal(rights.principal, read)).toBe('bad_grant revoked');
    rights.end();
    rights.end();
    expect(await refusal(rights.principal, read)).toBe('bad_grant ended');
    expect(() => admission.rightsOf(rights.principal).assertLive()).toThrow(/has ended/);
    expect(admission.rightsOf(rights.principal).mayList(fs('read'), read)).toBe(false);
    rights.join(owner);
    expect(await refusal(rights.principal, read)).toBe('bad_grant ended');
  });

  it('name the grants behind them, also through code that calls for other code, and those that have ended', {
    tags: ['P-729'],
  }, async () => {
    const [first, second, third] = [await grant({}), await grant({}), await grant({})];
    const outer = delegate([first]);
    const inner = delegate([outer.principal, second, owner]);
    outer.join(inner.principal);
    expect(admission.rightsOf(inner.principal).behind).toEqual([first.grantId, second.grantId].sort());
    inner.join(third);
    await store.revoke(third.grantId);
    expect(admission.rightsOf(inner.principal).behind).toEqual([first.grantId, second.grantId, third.grantId].sort());
    expect([delegate([owner]).principal, first].map((principal) => admission.rightsOf(principal).behind)).toEqual([undefined, undefined]);
  });

  it('charge every caller, and a refused call costs none of them', async () => {
    const plenty = await grant({ calls: 100, perMinute: 100, concurrent: 10 });
    const few = await grant({ calls: 2 });
    const { principal } = delegate([plenty, few]);
    for (const _ of [1, 2]) (await admit(principal)).release();
    for (const _ of [1, 2, 3]) expect(await refusal(principal)).toBe('budget_exhausted calls');
    expect(store.list().map(({ used }) => used)).toEqual([2, 2]);
    // The rate too: of a hundred, two are gone.
    for (let left = 98; left > 0; left--) (await admit(plenty)).release();
    expect(await refusal(plenty)).toBe('budget_exhausted perMinute');
  });

  it('count calls under way in each, the own grant of the caller included', async () => {
    const two = await grant({ concurrent: 2 });
    const first = await admit(two);
    const { principal } = delegate([two], { concurrent: 5 });
    const second = await admit(principal);
    expect(await refusal(principal)).toBe('budget_exhausted concurrent');
    expect(await refusal(two)).toBe('budget_exhausted concurrent');
    second.release();
    second.release();
    (await admit(principal)).undo();
    first.release();
    const own = delegate([two], { concurrent: 1 });
    const only = await admit(own.principal);
    expect(await refusal(own.principal)).toBe('budget_exhausted concurrent');
    only.release();
  });

  it('end with their own calls, and give a call back that was not made', async () => {
    const { principal } = delegate([owner], { calls: 1 });
    (await admit(principal)).undo();
    const made = await admit(principal);
    made.release();
    // It was made.
    made.undo();
    expect(await refusal(principal)).toBe('budget_exhausted calls');
  });

  it('charge a grant once that stands behind several callers, and end where delegations name each other', async () => {
    const three = await grant({ calls: 3 });
    const [outer, inner] = [delegate([three]), delegate([three])];
    outer.join(inner.principal);
    inner.join(outer.principal);
    outer.join(outer.principal);
    for (const _ of [1, 2, 3]) (await admit(outer.principal)).release();
    expect(await refusal(outer.principal)).toBe('budget_exhausted calls');
    inner.end();
    expect(await refusal(outer.principal)).toBe('bad_grant ended');
  });

  it('refuse a call whose execution ended while its budget was asked for', async () => {
    const { grantId } = await grant({ calls: 5 });
    const rights = delegate([{ kind: 'grant', grantId }]);
    const admitted = admit(rights.principal);
    rights.end();
    await expect(admitted).rejects.toMatchObject({ code: 'bad_grant', data: { reason: 'ended' } });
    expect(store.list()).toMatchObject([{ used: 0 }]);
  });

  it('are bounded, stand in no file, and open by no token', async () => {
    const before = await readdir(dir);
    const all = Array.from({ length: 1000 }, () => delegate([owner]));
    expect(() => delegate([owner])).toThrow(expect.objectContaining({ code: 'limit_reached' }));
    all[0]?.end();
    const { principal } = delegate([owner]);
    (await admit(principal)).release();
    expect(await readdir(dir)).toEqual(before);
    const { grantId } = await grant({});
    expect(await readFile(join(dir, 'grants.json'), 'utf8')).toContain(grantId);
    expect(await readFile(join(dir, 'grants.json'), 'utf8')).not.toContain((principal as { grantId: string }).grantId);
    expect([store.get((principal as { grantId: string }).grantId), store.find((principal as { grantId: string }).grantId)]).toEqual([
      'unknown',
      'unknown',
    ]);
    expect(() => delegate([owner], { allow: ['a b'] })).toThrow(expect.objectContaining({ code: 'limit_reached' }));
  });
});
