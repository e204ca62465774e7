import { silentLogger } from '@notebridge/protocol/util/logger';
import type { LeftSession } from '@notebridge/system/files/session-shelf';
import { type SharedStore, StoreUnavailable } from '@notebridge/system/files/shared-store';
import { describe, expect, it } from 'vitest';
import { SimulatedHub } from '../../notebridge/test/simulation/simulated-hub.js';
import { SimulatedStore } from '../../notebridge/test/simulation/simulated-store.js';
import { calm } from '../../notebridge/test/simulation/weather.js';
import { World } from '../../notebridge/test/simulation/world.js';
import type { HubView } from './cluster-parts.js';
import { markOfHub, StoredSessions } from './stored-sessions.js';

const session: LeftSession = { principal: { kind: 'grant', grantId: 'g1' }, version: '2025-06-18', said: [{ method: 'initialize' }] };
const { principal } = session;
const stranger = { kind: 'grant', grantId: 'g2' } as const;

describe('StoredSessions', () => {
  it('give what was left to one hub, once, and lead all others there', async () => {
    const { join, settle } = createHubs();
    const [one, two, three] = [join('one'), join('two'), join('three')];
    expect(await settle(two.sessions.take('key', principal))).toBeUndefined();
    expect(await settle(one.sessions.leave('key', session))).toBe(true);
    const taken = await settle(Promise.all([two, three].map(({ sessions }) => sessions.take('key', principal))));
    expect(taken.filter((each) => each !== undefined && 'said' in each)).toEqual([session]);
    const winner = taken.findIndex((each) => each !== undefined && 'said' in each) === 0 ? two : three;
    for (const { sessions } of [one, two, three]) expect(await settle(sessions.take('key', stranger))).toEqual({ at: winner.mark });
  });

  it('give it to nobody else, and keep it for its own agent', async () => {
    const { join, settle } = createHubs();
    const [one, two] = [join('one'), join('two')];
    await settle(one.sessions.leave('key', session));
    expect(await settle(two.sessions.take('key', stranger))).toBeUndefined();
    expect(await settle(two.sessions.take('key', principal))).toEqual(session);
  });

  it('are left again by whoever took them, over the mark of it', async () => {
    const { join, settle } = createHubs();
    const [one, two] = [join('one'), join('two')];
    await settle(one.sessions.leave('key', session));
    await settle(two.sessions.take('key', principal));
    const later = { ...session, said: [] };
    expect(await settle(two.sessions.leave('key', later))).toBe(true);
    expect(await settle(one.sessions.take('key', principal))).toEqual(later);
  });

  it('go on here when the answer of the taking was lost and the agent tries again, once and for it alone', {
    tags: ['P-560'],
  }, async () => {
    const { join, settle, world } = createHubs();
    const [one, two] = [join('one'), join('two')];
    await settle(one.sessions.leave('key', session));
    world.weather = { ...calm, lostAnswers: 1 };
    await expect(settle(two.sessions.take('key', principal))).rejects.toMatchObject({ code: 'cluster_unavailable' });
    world.weather = calm;
    expect(await settle(one.sessions.take('key', principal)), 'another hub leads there').toEqual({ at: two.mark });
    expect(await settle(two.sessions.take('key', stranger))).toEqual({ at: two.mark });
    expect(await settle(two.sessions.take('key', principal))).toEqual(session);
    expect(await settle(two.sessions.take('key', principal)), 'one that has ended does not come back').toEqual({ at: two.mark });
  });

  it('go on here when the write of the taking comes late, after the agent has tried again', { tags: ['P-560'] }, async () => {
    const { join, settle, world } = createHubs();
    const [one, two] = [join('one'), join('two')];
    await settle(one.sessions.leave('key', session));
    // It reaches the store long after it was given up.
    two.late.isLate = true;
    await expect(settle(two.sessions.take('key', principal))).rejects.toMatchObject({ code: 'cluster_unavailable' });
    two.late.isLate = false;
    expect(await settle(two.sessions.take('key', principal))).toEqual(session);
    await world.run(20_000);
    expect(world.counts.get('late writes in vain')).toBe(1);
    expect(await settle(one.sessions.take('key', principal))).toEqual({ at: two.mark });
    expect(await settle(two.sessions.take('key', principal))).toEqual({ at: two.mark });
  });

  it('are taken by one hub at most, whatever the store loses', { tags: ['P-560'] }, async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const { join, settle, world } = createHubs(seed);
      const [one, two, three] = [join('one'), join('two'), join('three')];
      await settle(one.sessions.leave('key', session));
      world.weather = { ...calm, lostAnswers: 0.4, lostRequests: 0.1, refused: 0.2, stale: 0.5, lagMs: 2_000, slow: 0.3, slowMs: 8_000 };
      const given: string[] = [];
      // An agent that tries again until it is told what is so, at both hubs.
      const insist = async ({ mark, sessions }: typeof two): Promise<void> => {
        for (let tries = 0; tries < 40; tries += 1) {
          const taken = await sessions.take('key', principal).catch(() => 'unknown' as const);
          if (taken !== 'unknown' && taken !== undefined && 'said' in taken) given.push(mark);
        }
      };
      await settle(Promise.all([insist(two), insist(three)]));
      expect(given, `seed ${seed}`).toHaveLength(1);
    }
  });
});

function createHubs(seed = 1) {
  const world = new World(seed);
  const store = new SimulatedStore(world);
  const settle = async <T>(promise: Promise<T>): Promise<T> => {
    let isSettled = false;
    const done = () => {
      isSettled = true;
    };
    promise.then(done, done);
    while (!isSettled) await world.run(5);
    return await promise;
  };
  const join = (name: string) => {
    const hub = new SimulatedHub(world, name, { offsetMs: 0, rate: 1 });
    const life = hub.start();
    const self: HubView = { id: name, name, version: '1', wire: { newest: 1, oldest: 1 }, startedAt: 1, load: 0, isDraining: false };
    const membership = { self, hubs: () => [self] };
    const client = store.clientFor(hub, life);
    const late = { isLate: false };
    const update: SharedStore['update'] = (...write) => {
      if (!late.isLate) return client.update(...write);
      world.after(8_000, 'a late write', () => void client.update(...write).catch(() => world.count('late writes in vain')));
      return Promise.reject(new StoreUnavailable('No answer.'));
    };
    const sessions = new StoredSessions({ store: { ...client, update }, membership, runtime: life.runtime, logger: silentLogger });
    return { sessions, late, mark: markOfHub(self) };
  };
  return { world, join, settle };
}
