import { describe, expect, it } from 'vitest';
import { SimulatedHub } from '../../notebridge/test/simulation/simulated-hub.js';
import { SimulatedStore } from '../../notebridge/test/simulation/simulated-store.js';
import { calm } from '../../notebridge/test/simulation/weather.js';
import { World } from '../../notebridge/test/simulation/world.js';
import { HubLease } from './hub-lease.js';
import { endIfGone } from './lease-entries.js';

describe('HubLease', () => {
  it('is seen by the others, with what it says of itself', async () => {
    const { world, join } = createCluster();
    const [one, two] = [join('one'), join('two')];
    let news = 0;
    two.lease.subscribe(() => {
      news += 1;
    });
    await world.run(1_000);
    expect(one.lease.isHeld()).toBe(true);
    expect(two.lease.hubs().map(({ name }) => name)).toEqual(['two', 'one']);
    expect(two.lease.hubs()[1]).toMatchObject({
      ...one.lease.self,
      version: '1',
      wire: { newest: 1, oldest: 1 },
      load: 0,
      isDraining: false,
    });
    one.lease.setLoad(7);
    await world.run(2_600);
    expect(two.lease.hubs()[1]?.load).toBe(7);
    one.lease.setDraining(true);
    await world.run(50);
    expect(two.lease.hubs()[1]?.isDraining).toBe(true);
    const before = news;
    await world.run(20_000);
    expect(news).toBe(before);
  });

  it('ends at once when it is left, and in its time when its hub is killed', async () => {
    const { world, join, store } = createCluster();
    const [one, two, three] = [join('one'), join('two'), join('three')];
    await world.run(1_000);
    void one.lease.leave();
    three.hub.kill();
    await world.run(100);
    expect(one.lease.isHeld()).toBe(false);
    expect(two.lease.hubs().map(({ name }) => name)).toEqual(['two', 'three']);
    await world.run(10_500);
    expect(two.lease.hubs().map(({ name }) => name)).toEqual(['two']);
    await world.run(60_000);
    expect(store.leader.list('hub.', 0)).toHaveLength(1);
  });

  it('ends at once when it is left with a renewal under way', async () => {
    const { world, join } = createCluster();
    const [one, two] = [join('one'), join('two')];
    await world.run(1_000);
    one.lease.setDraining(true);
    void one.lease.leave();
    await world.run(200);
    expect(two.lease.hubs().map(({ name }) => name)).toEqual(['two']);
    await world.run(15_000);
    expect(two.lease.hubs().map(({ name }) => name)).toEqual(['two']);
  });

  it('stops by its own clock before the store drops it, whatever its wall clock says and however fast it goes', {
    tags: ['P-529'],
  }, async () => {
    for (const rate of [0.999, 1, 1.001]) {
      const { world, join, store } = createCluster();
      const one = join('one', { offsetMs: 600_000, rate });
      await world.run(1_000);
      const { id } = one.lease.self;
      one.hub.life?.pause();
      let stoppedAt = 0;
      while (store.leader.read(`hub.${id}`, 0)) {
        await world.run(10);
        if (!stoppedAt && !one.lease.isHeld()) stoppedAt = world.now;
      }
      expect(stoppedAt).toBeGreaterThan(0);
      expect(world.now - stoppedAt).toBeGreaterThan(900);
    }
  });

  it('is kept over renewals whose answers are lost, and over a store that is silent for a while', { tags: ['P-530'] }, async () => {
    const { world, join } = createCluster();
    const one = join('one');
    await world.run(1_000);
    const { id } = one.lease.self;
    for (let round = 0; round < 10; round += 1) {
      world.weather = { ...calm, lostAnswers: round % 2 };
      await world.run(2_700);
    }
    world.weather = calm;
    for (let start = 0; start < 10; start += 1) {
      await world.run(2_700);
      one.hub.link.cut();
      await world.run(5_000);
      one.hub.link.heal();
    }
    await world.run(10_000);
    expect([one.lease.isHeld(), one.lease.self.id]).toEqual([true, id]);
  });

  it('is lost when another has ended it: its hub goes on under another id, and the old one stays ended', { tags: ['P-530'] }, async () => {
    const { world, join, storeOf } = createCluster();
    const [one, two] = [join('one'), join('two')];
    await world.run(1_000);
    const { id } = one.lease.self;
    expect(await settled(world, endIfGone(storeOf(two.hub), id))).toBe(false);
    one.hub.life?.pause();
    await world.run(11_000);
    expect(await settled(world, endIfGone(storeOf(two.hub), id))).toBe(true);
    expect(await settled(world, endIfGone(storeOf(two.hub), id))).toBe(true);
    const told: boolean[] = [];
    one.lease.subscribe(() => told.push(one.lease.isHeld()));
    one.hub.life?.wake();
    await world.run(100);
    expect(told[0]).toBe(false);
    expect(told.at(-1)).toBe(true);
    expect(one.lease.self.id).not.toBe(id);
    expect(await settled(world, endIfGone(storeOf(two.hub), id))).toBe(true);
    expect(two.lease.hubs()).toHaveLength(2);
  });

  it('the lease of a hub that was killed ends also when somebody without the key puts it back for ever', { tags: ['P-554'] }, async () => {
    const { world, join, store } = createCluster();
    const [one, two, three] = [join('one'), join('two'), join('three')];
    await world.run(1_000);
    const key = `hub.${one.lease.self.id}`;
    const lease = store.leader.read(key, 0)?.value ?? '';
    one.hub.kill();
    await world.run(12_000);
    store.leader.create(key, lease, {});
    await world.run(1_000);
    expect(two.lease.hubs()).toHaveLength(3);
    await world.run(31_000);
    expect([two, three].map(({ lease: { self }, lease }) => lease.hubs().map(({ id }) => id === self.id))).toEqual([
      [true, false],
      [true, false],
    ]);
  });

  it('a lease never stands when it was left before it was answered, whichever write comes first', async () => {
    const { world, create, store } = createCluster();
    for (let round = 0; round < 20; round += 1) {
      const { lease } = create(`hub${round}`);
      const outcome = lease.start().catch((error: { code: string }) => error.code);
      await world.run(round / 4);
      await settled(world, lease.leave());
      await world.run(100);
      expect((await outcome) ?? 'closed').toBe('closed');
      expect(store.leader.read(`hub.${lease.self.id}`, 0)?.value).toBe('{"ended":true}');
    }
  });

  it('is asked for until the store is there, and not after it was left', async () => {
    const { world, create } = createCluster();
    const [one, two] = [create('one'), create('two')];
    one.hub.link.cut();
    two.hub.link.cut();
    const outcomes: string[] = [];
    one.lease.start().then(() => outcomes.push('joined'), String);
    two.lease.start().then(String, (error: { code: string }) => outcomes.push(error.code));
    await world.run(60_000);
    expect(outcomes).toEqual([]);
    void two.lease.leave();
    one.hub.link.heal();
    await world.run(5_000);
    expect(outcomes).toEqual(['closed', 'joined']);
    expect(one.lease.hubs()).toHaveLength(1);
  });
});

function createCluster() {
  const world = new World(1);
  const store = new SimulatedStore(world);
  const storeOf = (hub: SimulatedHub) => store.clientFor(hub, hub.life ?? hub.start());
  const create = (name: string, clocks = { offsetMs: 0, rate: 1 }) => {
    const hub = new SimulatedHub(world, name, clocks);
    const { runtime } = hub.start();
    const about = { name, version: '1', wire: { newest: 1, oldest: 1 } };
    return { hub, lease: new HubLease({ store: storeOf(hub), runtime, about }) };
  };
  const join = (name: string, clocks?: { offsetMs: number; rate: number }) => {
    const created = create(name, clocks);
    void created.lease.start();
    return created;
  };
  return { world, store, storeOf, create, join };
}

async function settled<T>(world: World, promise: Promise<T>): Promise<T> {
  await world.run(100);
  return await promise;
}
