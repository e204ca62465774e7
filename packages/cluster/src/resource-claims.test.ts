import { type SharedStore, type StoredEntry, StoreUnavailable } from '@notebridge/system/files/shared-store';
import { describe, expect, it } from 'vitest';
import { SimulatedHub } from '../../notebridge/test/simulation/simulated-hub.js';
import { SimulatedStore } from '../../notebridge/test/simulation/simulated-store.js';
import { calm } from '../../notebridge/test/simulation/weather.js';
import { World } from '../../notebridge/test/simulation/world.js';
import { HubLease } from './hub-lease.js';
import { ResourceClaims } from './resource-claims.js';

describe('ResourceClaims', () => {
  it('takes with one write and releases with one, and renews nothing meanwhile', async () => {
    const { world, join, settle } = createCluster();
    const { claims } = await join('one');
    const writes = () => world.counts.get('writes') ?? 0;
    const before = writes();
    const startMs = world.now;
    const taken = await settle(Promise.all(Array.from({ length: 2_000 }, (_, index) => claims.take(`page.p${index}`))));
    expect(taken.every((claim) => claim?.isHeld())).toBe(true);
    await world.run(10_000);
    await settle(Promise.all(taken.map((claim) => claim?.release({ forget: true }))));
    // All others are of the lease: one each 2.5 s.
    expect(writes() - before - 4_000).toBeLessThanOrEqual(Math.ceil((world.now - startMs) / 2_500) + 1);
    expect(world.counts.get('reads')).toBe(2);
  });

  it('gives a resource to one hub, and tells the others who has it', async () => {
    const { join, settle, world } = createCluster();
    const [one, two] = [await join('one'), await join('two')];
    const heard: string[] = [];
    two.claims.subscribe((resource) => heard.push(resource));
    const claim = await settle(one.claims.take('server.a', { size: 1 }));
    expect(claim).toMatchObject({ resource: 'server.a', epoch: 1 });
    expect(await settle(two.claims.take('server.a'))).toBeUndefined();
    expect(await settle(one.claims.take('server.a'))).toBe(claim);
    await settle(claim?.describe({ size: 2 }));
    await world.run(100);
    expect(two.claims.ownerOf('server.a')).toEqual({ resource: 'server.a', hub: one.lease.self.id, epoch: 1, about: { size: 2 } });
    expect(two.claims.list('server.')).toHaveLength(1);
    expect(two.claims.list('page.')).toEqual([]);
    expect(heard).toContain('server.a');
  });

  it('raises the epoch with each new owner, also over a release; and keeps nothing of what is forgotten', async () => {
    const { join, settle, world, store } = createCluster();
    const [one, two] = [await join('one'), await join('two')];
    const lost: string[] = [];
    for (const [epoch, hub] of [one, two, one].entries()) {
      const claim = await settle(hub.claims.take('server.a'));
      expect(claim?.epoch).toBe(epoch + 1);
      claim?.onLost(() => lost.push('lost'));
      const released = claim?.release();
      expect(claim?.isHeld()).toBe(false);
      await settle(released);
    }
    expect(lost).toHaveLength(3);
    const page = await settle(one.claims.take('page.p1'));
    await settle(page?.release({ forget: true }));
    await world.run(100);
    expect(store.leader.list('claim.', 0).map(({ key }) => key)).toEqual(['claim.server.a']);
    expect(two.claims.ownerOf('server.a')).toBeUndefined();
  });

  it('takes over what a killed hub had when its lease is over, and not before', async () => {
    const { join, settle, world } = createCluster();
    const [one, two] = [await join('one'), await join('two')];
    await settle(one.claims.take('server.a'));
    one.hub.kill();
    const killedAt = world.now;
    let claim: Awaited<ReturnType<typeof two.claims.take>>;
    while (!claim) {
      await world.run(100);
      claim = await settle(two.claims.take('server.a'));
    }
    expect(claim.epoch).toBe(2);
    expect(world.now - killedAt).toBeGreaterThan(7_000);
    expect(world.now - killedAt).toBeLessThan(11_000);
  });

  it('loses all with the lease: a hub that was paused for a minute wakes without', { tags: ['P-529'] }, async () => {
    const { join, settle, world } = createCluster();
    const [one, two] = [await join('one'), await join('two')];
    const claim = await settle(one.claims.take('server.a'));
    let wasLost = false;
    claim?.onLost(() => {
      wasLost = true;
    });
    const { id } = one.lease.self;
    one.hub.life?.pause();
    await world.run(9_000);
    expect(claim?.isHeld()).toBe(false);
    await world.run(51_000);
    expect(await settle(two.claims.take('server.a'))).toMatchObject({ epoch: 2 });
    one.hub.life?.wake();
    await world.run(1_000);
    expect([wasLost, one.lease.isHeld()]).toEqual([true, true]);
    expect(one.lease.self.id).not.toBe(id);
    expect(await settle(one.claims.take('server.a'))).toBeUndefined();
  });

  it('finds what a write has made whose answer was lost: by taking again, or by releasing what nobody holds', async () => {
    const { join, settle, world, store } = createCluster();
    const one = await join('one');
    const losing = (rate: number) => {
      world.weather = { ...calm, lostAnswers: rate };
    };
    losing(1);
    const [again, dropped] = [one.claims.take('server.again'), one.claims.take('server.dropped')];
    await world.run(100);
    losing(0);
    await expect(settle(again)).rejects.toThrow(StoreUnavailable);
    await expect(settle(dropped)).rejects.toThrow(StoreUnavailable);
    expect(await settle(one.claims.take('server.again', { size: 1 }))).toMatchObject({ epoch: 1 });
    await world.run(5_000);
    expect(one.claims.ownerOf('server.again')?.about).toEqual({ size: 1 });
    expect(one.claims.ownerOf('server.dropped')).toBeUndefined();
    expect(JSON.parse(store.leader.read('claim.server.dropped', 0)?.value ?? '')).toEqual({ hub: null, epoch: 1, about: {} });
  });

  it('does not have what another took over while the answer to its own write was on its way, and takes it again later', async () => {
    const { join, settle, world } = createCluster();
    let answer = (): void => {};
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const answerLate = (store: SharedStore): SharedStore => ({
      ...store,
      create: async (key, ...rest) => {
        const revision = await store.create(key, ...rest);
        if (key === 'claim.server.a') await isAnswered;
        return revision;
      },
    });
    const [one, two] = [await join('one', answerLate), await join('two')];
    const { id } = one.lease.self;
    const taken = one.claims.take('server.a');
    await world.run(100);
    expect(two.claims.ownerOf('server.a')).toMatchObject({ hub: id });
    one.hub.link.cut();
    await world.run(12_000);
    const other = await settle(two.claims.take('server.a'));
    one.hub.link.heal();
    await world.run(5_000);
    expect([one.lease.isHeld(), one.lease.self.id === id]).toEqual([true, false]);
    answer();
    await expect(settle(taken)).rejects.toMatchObject({ code: 'cluster_unavailable' });
    expect(one.claims.held('server.a')).toBeUndefined();
    expect(other?.isHeld()).toBe(true);
    await settle(other?.release());
    expect(await settle(one.claims.take('server.a'))).toMatchObject({ epoch: 3 });
  });

  it('describes on after an answer was lost', async () => {
    const { join, settle, world } = createCluster();
    const one = await join('one');
    const claim = await settle(one.claims.take('server.a'));
    world.weather = { ...calm, lostAnswers: 1 };
    const described = claim?.describe({ size: 1 });
    await world.run(100);
    world.weather = calm;
    await expect(settle(described)).rejects.toThrow(StoreUnavailable);
    await settle(claim?.describe({ size: 2 }));
    expect(one.claims.ownerOf('server.a')?.about).toEqual({ size: 2 });
    expect(claim?.isHeld()).toBe(true);
  });

  it('describes on after an answer was lost, however often a replica says what was there before it', async () => {
    const { join, settle, world, store } = createCluster();
    const old: StoredEntry[] = [];
    const readOld = (client: SharedStore): SharedStore => ({ ...client, get: async (key) => old.pop() ?? client.get(key) });
    const one = await join('one', readOld);
    const claim = await settle(one.claims.take('server.a'));
    const before = store.leader.read('claim.server.a', 0);
    world.weather = { ...calm, lostAnswers: 1 };
    const described = claim?.describe({ size: 1 });
    await world.run(100);
    world.weather = calm;
    await expect(settle(described)).rejects.toThrow(StoreUnavailable);
    for (let count = 0; before && count < 9; count += 1) old.push(before);
    await settle(claim?.describe({ size: 2 }));
    expect(one.claims.ownerOf('server.a')?.about).toEqual({ size: 2 });
  });

  it('releases at once what it has described without hearing an answer: nobody waits for it to be tidied up', async () => {
    const { join, settle, world, store } = createCluster();
    const one = await join('one');
    const claim = await settle(one.claims.take('server.a'));
    world.weather = { ...calm, lostAnswers: 1 };
    const described = claim?.describe({ size: 1 }).catch((error: unknown) => error);
    await world.run(100);
    world.weather = calm;
    expect(await settle(described)).toBeInstanceOf(StoreUnavailable);
    await settle(claim?.release());
    expect(JSON.parse(store.leader.read('claim.server.a', 0)?.value ?? '')).toEqual({ hub: null, epoch: 1, about: { size: 1 } });
  });

  it('raises the epoch of what it once wanted to be forgotten and another hub has had since: no two owners have the same', async () => {
    const { join, settle, world } = createCluster();
    const [one, two] = [await join('one'), await join('two')];
    const withoutAnswer = async (ask: () => Promise<unknown> | undefined): Promise<unknown> => {
      world.weather = { ...calm, lostAnswers: 1 };
      const asked = ask()?.catch((error: unknown) => error);
      await world.run(100);
      world.weather = calm;
      return await settle(asked);
    };
    const claim = await settle(one.claims.take('server.a'));
    await withoutAnswer(() => claim?.release({ forget: true }));
    const other = await settle(two.claims.take('server.a'));
    await world.run(5_000);
    await settle(other?.release());
    expect(await withoutAnswer(() => one.claims.take('server.a'))).toBeInstanceOf(StoreUnavailable);
    // It stands in its name, and is given back.
    await world.run(5_000);
    expect(await settle(two.claims.take('server.a'))).toMatchObject({ epoch: (other?.epoch ?? 0) + 2 });
  });

  it('puts back what somebody without the key has removed or written over, or loses it to the hub that was faster', {
    tags: ['P-554'],
  }, async () => {
    const { join, settle, world, store } = createCluster();
    const [one, two] = [await join('one'), await join('two')];
    const key = 'claim.server.a';
    const claim = await settle(one.claims.take('server.a', { size: 1 }));
    const first = store.leader.read(key, 0)?.value ?? '';
    const removed = (): void => store.leader.remove(key, store.leader.read(key, 0)?.revision ?? 0);
    removed();
    await world.run(1000);
    expect(claim?.isHeld()).toBe(true);
    expect(two.claims.ownerOf('server.a')).toMatchObject({ hub: one.lease.self.id, epoch: 1, about: { size: 1 } });
    store.leader.update(key, 'garbage', store.leader.read(key, 0)?.revision ?? 0, {});
    await world.run(1000);
    expect(claim?.isHeld()).toBe(true);
    expect(store.leader.read(key, 0)?.value).toBe(first);
    one.hub.link.cut();
    removed();
    await world.run(500);
    const taken = await settle(two.claims.take('server.a'));
    one.hub.link.heal();
    await world.run(5000);
    expect([taken?.isHeld(), claim?.isHeld()]).toEqual([true, false]);
    expect(one.claims.held('server.a')).toBeUndefined();
  });

  it('takes nothing without a lease, nor after it was closed', async () => {
    const { join, settle, world } = createCluster();
    const one = await join('one');
    const claim = await settle(one.claims.take('server.a'));
    one.hub.link.cut();
    await world.run(9_500);
    expect(claim?.isHeld()).toBe(false);
    await expect(settle(one.claims.take('server.b'))).rejects.toMatchObject({ code: 'cluster_unavailable' });
    one.hub.link.heal();
    await world.run(5_000);
    await settle(one.claims.take('server.b'));
    await settle(one.claims.close());
    await expect(settle(one.claims.take('server.c'))).rejects.toMatchObject({ code: 'closed' });
    await settle(one.lease.leave());
    const two = await join('two');
    expect(await settle(two.claims.take('server.b'))).toMatchObject({ epoch: 2 });
  });
});

function createCluster() {
  const world = new World(1);
  const store = new SimulatedStore(world);
  /** Lets time pass until it is settled. */
  const settle = async <T>(promise: Promise<T> | undefined): Promise<T | undefined> => {
    let isSettled = false;
    const done = () => {
      isSettled = true;
    };
    promise?.then(done, done);
    while (promise && !isSettled) await world.run(5);
    return await promise;
  };
  const join = async (name: string, change = (client: SharedStore) => client) => {
    const hub = new SimulatedHub(world, name, { offsetMs: 0, rate: 1 });
    const life = hub.start();
    const parts = { store: change(store.clientFor(hub, life)), runtime: life.runtime };
    const lease = new HubLease({ ...parts, about: { name, version: '1', wire: { newest: 1, oldest: 1 } } });
    const claims = new ResourceClaims({ ...parts, membership: lease });
    await settle(Promise.all([lease.start(), claims.start()]));
    return { hub, lease, claims };
  };
  return { world, store, settle: settle as <T>(promise: Promise<T> | undefined) => Promise<T>, join };
}
