import { silentLogger } from '@notebridge/protocol/util/logger';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySharedStore, type MemoryStoreClient } from '../../test/support/memory-shared-store.js';
import { createSteppedRuntime, type SteppedRuntime } from '../../test/support/stepped-runtime.js';
import type { LiveGrant } from './grant.js';
import { GrantStore } from './grant-store.js';
import { IdentityGrants } from './identity-grants.js';

const clusterKey = Buffer.alloc(32, 7);
let runtime: SteppedRuntime;
let shared: MemorySharedStore;
const opened: GrantStore[] = [];

interface TestHub {
  grants: GrantStore;
  store: MemoryStoreClient;
}

beforeEach(() => {
  runtime = createSteppedRuntime();
  shared = new MemorySharedStore(runtime);
});
afterEach(async () => {
  for (const grants of opened.splice(0)) await during(grants.close().catch(() => {}));
});

async function openHub({ key = clusterKey, isCut = false } = {}): Promise<TestHub> {
  const store = shared.client();
  store.isCut = isCut;
  const grants = await during(GrantStore.openShared({ store, runtime, logger: silentLogger, clusterKey: key }));
  opened.push(grants);
  return { grants, store };
}

/** Lets time pass until it is done. */
async function during<Result>(work: Promise<Result>): Promise<Result> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  for (let step = 0; !isDone && step < 10_000; step++) await runtime.pass(10);
  return done;
}

function found({ grants }: TestHub, token: string): LiveGrant {
  const grant = grants.find(token);
  if (typeof grant === 'string') throw new Error(grant);
  return grant;
}

async function take(hub: TestHub, token: string): Promise<boolean> {
  return hub.grants.takeCall(found(hub, token));
}

describe('the grants of a cluster', () => {
  it('are said to be those of all hubs, and none has an id that is no key of their store', async () => {
    const { grants } = await openHub();
    expect(grants.isShared).toBe(true);
    for (const id of ['', 'g.1', 'g_*', 'g 1', '../g']) expect(await during(grants.revoke(id)), id).toBe(false);
  });

  it('open at each hub what another has issued, and end everywhere once one has revoked them', async () => {
    const [one, two] = [await openHub(), await openHub()];
    const { id, token } = await during(one.grants.issue({ label: 'x', allow: ['github:*'] }));
    expect(found(one, token)).toMatchObject({ id });
    await runtime.pass(50);
    expect(found(two, token)).toMatchObject({ id, allow: ['github:*'], label: 'x' });
    expect(await during(two.grants.revoke(id))).toBe(true);
    expect(two.grants.find(token)).toBe('revoked');
    await runtime.pass(50);
    expect([one.grants.find(token), one.grants.get(id)]).toEqual(['revoked', 'revoked']);
    expect(await during(one.grants.revoke(id))).toBe(false);
    expect(await during(one.grants.revoke('g_000000000000'))).toBe(false);
    // A hub that comes later knows it too.
    expect((await openHub()).grants.find(token)).toBe('revoked');
  });

  it('are found by a token that was issued elsewhere in this moment, and not by one that was not', async () => {
    const [one, two] = [await openHub(), await openHub()];
    two.store.isCut = true;
    const { id, token } = await during(one.grants.issue());
    expect(two.grants.find(token)).toBe('unknown');
    const later = two.grants.findLater(token);
    two.store.isCut = false;
    expect(await during(Promise.resolve(later))).toMatchObject({ id });
    expect(await during(Promise.resolve(two.grants.findLater(`nbg_${'a'.repeat(43)}`)))).toBe('unknown');
    expect(two.grants.findLater('nonsense')).toBeUndefined();
  });

  it('keep renewal, overlap, holders and order over hubs', async () => {
    const [one, two] = [await openHub(), await openHub()];
    const first = await during(one.grants.issue({ ttlMs: 90_000, calls: 5, holder: 'h' }));
    await runtime.pass(60_000);
    const second = await during(two.grants.renew(first.id, 90_000));
    await runtime.pass(50);
    expect(found(one, second.token)).toMatchObject({ id: first.id, calls: 5 });
    expect(found(one, first.token)).toMatchObject({ id: first.id });
    await runtime.pass(30_000);
    expect([one.grants.find(first.token), two.grants.find(first.token)]).toEqual(['expired', 'expired']);
    await during(one.grants.issue({ label: 'later' }));
    await runtime.pass(50);
    expect(two.grants.list().map(({ label }) => label)).toEqual([undefined, 'later']);
    expect(two.grants.ofHolder('h')).toMatchObject([{ id: first.id }]);
  });

  it('are one for an identity that comes to two hubs at the same moment, and renewed by whichever it comes to next', async () => {
    const [one, two] = [await openHub(), await openHub()];
    const terms = { allow: ['a:*'], label: 'pod', holder: 'exchange x', door: 'tools', readOnly: false, ttlMs: 60_000, calls: 10 } as const;
    const asked = [one, two].map(({ grants }) => new IdentityGrants(grants).give({ ...terms, allow: ['a:*'] }, 0));
    const [first, second] = await during(Promise.all(asked));
    expect(second?.id).toBe(first?.id);
    await runtime.pass(50);
    expect(one.grants.list()).toHaveLength(1);
    expect(found(one, second?.token ?? '')).toMatchObject({ id: first?.id, calls: 10 });
    const third = await during(new IdentityGrants(one.grants).give({ ...terms, allow: ['a:*'] }, 0));
    expect(third.id).toBe(first?.id);
    await during(two.grants.revoke(third.id));
    await runtime.pass(50);
    await expect(during(new IdentityGrants(one.grants).give({ ...terms, allow: ['a:*'] }, 0))).rejects.toMatchObject({ code: 'bad_grant' });
  });

  it('are forgotten by the store an hour after their end, and those of holders after a month', async () => {
    const one = await openHub();
    const { token } = await during(one.grants.issue({ ttlMs: 1000 }));
    const held = await during(one.grants.issue({ ttlMs: 1000, holder: 'h' }));
    await during(one.grants.revoke(held.id));
    expect(await one.store.list('grant.g_')).toHaveLength(2);
    await runtime.pass(121 * 60_000);
    expect(one.grants.find(token)).toBe('unknown');
    expect(one.grants.find(held.token)).toBe('revoked');
    expect(await one.store.list('grant.g_')).toHaveLength(1);
  });
});

describe('a hub without the store of its cluster', () => {
  it('refuses every grant after five seconds at most, and accepts them once it is there again', { tags: ['P-550'] }, async () => {
    const [one, two] = [await openHub(), await openHub()];
    const { id, token } = await during(one.grants.issue({ calls: 10 }));
    const other = await during(one.grants.issue());
    await runtime.pass(2000);
    two.store.isCut = true;
    expect(found(two, token)).toMatchObject({ id });
    await during(one.grants.revoke(other.id));
    await runtime.pass(5000);
    expect([two.grants.find(token), two.grants.get(id)]).toEqual(['unverified', 'unverified']);
    // What is not known may have come since.
    expect(two.grants.find(`nbg_${'a'.repeat(43)}`)).toBe('unverified');
    await expect(during(two.grants.issue())).rejects.toMatchObject({ code: 'cluster_unavailable' });
    await expect(during(two.grants.revoke(id))).rejects.toMatchObject({ code: 'cluster_unavailable', data: { outcome: 'unknown' } });
    expect(found(one, token)).toMatchObject({ id });
    two.store.isCut = false;
    await runtime.pass(2000);
    expect(found(two, token)).toMatchObject({ id });
    expect(two.grants.find(other.token)).toBe('revoked');
  });

  it('refuses them too where its own marks alone do not come back', async () => {
    const [one, two] = [await openHub(), await openHub()];
    const { token } = await during(one.grants.issue());
    await runtime.pass(50);
    two.store.fault = (_kind, key) => (key.includes('beat') ? 'request lost' : undefined);
    await runtime.pass(6600);
    expect(two.grants.find(token)).toBe('unverified');
    expect(found(one, token)).toBeDefined();
  });

  it('opens nothing at the start, goes on trying, and knows all once it gets through', async () => {
    const one = await openHub();
    const { id, token } = await during(one.grants.issue());
    const late = await openHub({ isCut: true });
    expect(late.grants.find(token)).toBe('unverified');
    late.store.isCut = false;
    await runtime.pass(3000);
    expect(found(late, token)).toMatchObject({ id });
  });
});

describe('the budget of a grant in a cluster', () => {
  it('is used exactly by two hubs that make a thousand calls each, while answers and requests of the store are lost', {
    tags: ['P-548'],
  }, async () => {
    const [one, two] = [await openHub(), await openHub()];
    const { token } = await during(one.grants.issue({ calls: 700 }));
    await runtime.pass(50);
    let turn = 0;
    for (const hub of [one, two]) hub.store.fault = () => (['request lost', 'answer lost', undefined] as const)[turn++ % 3];
    const calls = Array.from({ length: 2000 }, (_, call) => take(call % 2 === 0 ? one : two, token));
    const taken = (await during(Promise.all(calls))).filter(Boolean);
    expect(taken).toHaveLength(700);
  });

  it('is used exactly by eight hubs in a storm of conflicts', async () => {
    const hubs: TestHub[] = [];
    for (let hub = 0; hub < 8; hub++) hubs.push(await openHub());
    const [first] = hubs as [TestHub];
    const { id, token } = await during(first.grants.issue({ calls: 500 }));
    await runtime.pass(50);
    const calls = Array.from({ length: 1600 }, (_, call) => take(hubs[call % 8] as TestHub, token));
    const taken = (await during(Promise.all(calls))).filter(Boolean);
    // What the hub that was faster has not used comes back.
    expect(taken.length).toBeLessThanOrEqual(500);
    await runtime.pass(20_000);
    expect(first.grants.list()).toMatchObject([{ id, used: taken.length }]);
    for (let rest = taken.length; rest < 500; rest++) expect(await during(take(first, token))).toBe(true);
    expect(await during(take(first, token))).toBe(false);
  });

  it('loses one block at most with a hub that is killed', { tags: ['P-548'] }, async () => {
    const [killed, other] = [await openHub(), await openHub()];
    const { token } = await during(killed.grants.issue({ calls: 1000 }));
    for (let call = 0; call < 10; call++) expect(await during(take(killed, token))).toBe(true);
    // From now on nothing of it arrives any more.
    killed.store.isCut = true;
    await runtime.pass(50);
    const calls = Array.from({ length: 1000 }, () => take(other, token));
    const taken = (await during(Promise.all(calls))).filter(Boolean);
    expect(taken).toHaveLength(750);
  });

  it('counts a block as used of which nobody can tell whether it was taken', async () => {
    const [one, two] = [await openHub(), await openHub()];
    const { id, token } = await during(one.grants.issue({ calls: 100 }));
    one.store.fault = (kind, key) => (kind === 'update' && key.endsWith(id) ? 'answer lost' : undefined);
    one.store.lag = 0;
    const call = take(one, token);
    // The write arrives, its answer does not, and then the hub is alone.
    await runtime.pass(1);
    one.store.isCut = true;
    await expect(during(call)).rejects.toMatchObject({ code: 'cluster_unavailable', data: { outcome: 'unknown' } });
    one.store.isCut = false;
    one.store.fault = () => undefined;
    await runtime.pass(3000);
    const calls = Array.from({ length: 200 }, (_, at) => take(at % 2 === 0 ? one : two, token));
    expect((await during(Promise.all(calls))).filter(Boolean)).toHaveLength(75);
  });

  it('is given back by a hub that is idle or closed, and counted where there is none', async () => {
    const [one, two] = [await openHub(), await openHub()];
    const { token, id } = await during(one.grants.issue({ calls: 100 }));
    const free = await during(one.grants.issue());
    expect(await during(take(one, token))).toBe(true);
    for (let call = 0; call < 3; call++) expect(await take(one, free.token)).toBe(true);
    await runtime.pass(50);
    expect(two.grants.list()).toMatchObject([{ id, used: 25 }, { used: 0 }]);
    await runtime.pass(12_000);
    expect(two.grants.list()).toMatchObject([
      { id, used: 1 },
      { id: free.id, used: 3 },
    ]);
    expect(await during(take(one, token))).toBe(true);
    await during(one.grants.close());
    await runtime.pass(50);
    expect(two.grants.list()).toMatchObject([{ used: 2 }, { used: 3 }]);
  });

  it('keeps no hub from its end while the store is away', async () => {
    const one = await openHub();
    const { token } = await during(one.grants.issue({ calls: 100 }));
    expect(await during(take(one, token))).toBe(true);
    one.store.isCut = true;
    const since = runtime.steady();
    await during(one.grants.close().catch(() => {}));
    expect(runtime.steady() - since).toBeLessThan(6000);
  });

  it('is taken by compare-and-set also where reads are old', async () => {
    const [one, two] = [await openHub(), await openHub()];
    const { token } = await during(one.grants.issue({ calls: 50 }));
    await runtime.pass(50);
    two.store.lag = 3;
    const calls = Array.from({ length: 100 }, (_, call) => take(call % 2 === 0 ? one : two, token));
    await runtime.pass(100);
    two.store.lag = 0;
    expect((await during(Promise.all(calls))).filter(Boolean)).toHaveLength(50);
  });
});

describe('a stranger at the store of a cluster', () => {
  it('can read no grant, make none, put back no old state, and give none to another hub', { tags: ['P-553'] }, async () => {
    const one = await openHub();
    const stranger = shared.client();
    const { id, token } = await during(one.grants.issue({ label: 'secret name', calls: 10 }));
    const before = await stranger.get(`grant.${id}`);
    expect(before?.value).not.toContain('secret name');
    await during(one.grants.revoke(id));
    const revoked = await stranger.get(`grant.${id}`);
    await stranger.update(`grant.${id}`, before?.value ?? '', revoked?.revision ?? 0);
    await runtime.pass(50);
    expect(typeof one.grants.find(token)).toBe('string');
    // Under another id it is not that grant, nor any.
    await stranger.create('grant.g_00000000000a', before?.value ?? '');
    await runtime.pass(50);
    expect(one.grants.get('g_00000000000a')).toBe('unknown');
    // Neither does a hub of another cluster understand it.
    const other = await openHub({ key: Buffer.alloc(32, 8) });
    expect(other.grants.find(token)).toBe('unknown');
  });

  it('can put back no old state behind a removal, at a hub that has seen the newer one', { tags: ['P-555'] }, async () => {
    const [one, two] = [await openHub(), await openHub()];
    const stranger = shared.client();
    const { id, token } = await during(one.grants.issue({ calls: 1 }));
    const key = `grant.${id}`;
    const before = (await stranger.get(key))?.value ?? '';
    await during(one.grants.revoke(id));
    await runtime.pass(50);
    await stranger.remove(key, (await stranger.get(key))?.revision ?? 0);
    await runtime.pass(50);
    await stranger.create(key, before);
    await runtime.pass(50);
    for (const hub of [one, two]) expect(typeof hub.grants.find(token)).toBe('string');
  });
});
