import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import { NatsLink } from '@notebridge/cluster/nats/nats-link';
import { NatsStore } from '@notebridge/cluster/nats/nats-store';
import { silentLogger, toLogger } from '@notebridge/protocol/util/logger';
import { type SharedStore, type StoreChange, StoreConflict, StoreUnavailable } from '@notebridge/system/files/shared-store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askJetStream, joinNats, soon, startNats, waitForNats } from '../support/joined-nats.js';
import { type Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { natsSettings } from '../support/nats-settings.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';

describe.skipIf(natsProgram === undefined)(`NATS with faults${whyNoNats}`, { timeout: 120_000 }, () => {
  it('a server that is killed and started again: nothing is said to be done meanwhile, and watches go on', {
    tags: ['deep', 'P-535'],
  }, async () => {
    const nats = await startNats();
    const warnings: string[] = [];
    const logger = toLogger((level, message) => void (level === 'warn' && warnings.push(message)));
    const [a, b] = [await joinNats(nats, {}, logger), await joinNats(nats)];
    const changes: StoreChange[] = [];
    await b.store.watch('k.', (change) => void changes.push(change));
    const kept = await a.store.create('k.kept', '1');
    const ended = await a.store.create('k.ended', '1', { ttlMs: 2000 });
    // Or three: on a busy machine one of them has ended by now.
    await waitForNats(() => expect(changes.length).toBeGreaterThanOrEqual(2));
    const connections: boolean[] = [];
    a.bus.onConnection((isConnected) => void connections.push(isConnected));
    await nats.nodes[0]?.kill();
    await waitForNats(() => expect(a.bus.isConnected).toBe(false));
    a.bus.publish('nobody', Buffer.from('is told'));
    const startMs = performance.now();
    const operations = [a.store.get('k.kept'), a.store.update('k.kept', '2', kept), a.store.create('k.x', '1'), a.store.list('k.')];
    for (const operation of operations) await expect(operation).rejects.toThrow(StoreUnavailable);
    expect(performance.now() - startMs).toBeLessThan(soonerThanNeverMs);
    // As a lease that is renewed all the time. It is said once.
    for (let times = 0; times < 20; times += 1) await expect(a.store.update('k.kept', '2', kept)).rejects.toThrow(StoreUnavailable);
    expect(warnings).toEqual([expect.stringContaining('the connection to NATS is lost')]);
    await nats.nodes[0]?.start();
    await waitForNats(() => expect(connections).toEqual([false, true]));
    const second = await soon(() => a.store.update('k.kept', '2', kept));
    await waitForNats(() => expect(stateOf(changes)).toEqual({ 'k.kept': '2' }));
    expect(changes.findLast(({ key }) => key === 'k.ended')).toMatchObject({ entry: undefined });
    expect(changes.findLast(({ key }) => key === 'k.ended')?.revision).toBeGreaterThan(ended);
    expect(await b.store.get('k.kept')).toMatchObject({ revision: second });
    expectNoneGoesBack(changes);
  });

  it('a server that comes back without its store: the bucket is made anew, above all revisions, and watches tell what is gone', {
    tags: ['P-536'],
  }, async () => {
    const nats = await startNats();
    const [a, b] = [await joinNats(nats), await joinNats(nats)];
    const changes: StoreChange[] = [];
    await b.store.watch('', (change) => void (change.key.startsWith('k.') && changes.push(change)));
    const first = await a.store.create('k.x', '1');
    await waitForNats(() => expect(changes).toHaveLength(1));
    const [node] = nats.nodes;
    await node?.kill();
    rmSync(join(node?.folder ?? '', 'jetstream'), { recursive: true });
    await node?.start();
    await waitForNats(() => expect(stateOf(changes)).toEqual({}));
    await expect(soon(() => a.store.update('k.x', '2', first))).rejects.toThrow(StoreConflict);
    expect(await b.store.create('k.x', '3')).toBeGreaterThan(first);
    await waitForNats(() => expect(stateOf(changes)).toEqual({ 'k.x': '3' }));
    expectNoneGoesBack(changes);
  });

  it('a store that is emptied by a person: watches tell it, though no mark says so', { tags: ['P-536'] }, async () => {
    const nats = await startNats();
    const [a, b] = [await joinNats(nats), await joinNats(nats)];
    const changes: StoreChange[] = [];
    await b.store.watch('k.', (change) => void changes.push(change));
    await a.store.create('k.x', '1');
    await waitForNats(() => expect(changes).toHaveLength(1));
    await removeStream(nats, 'KV_notebridge-notebridge');
    await waitForNats(() => expect(stateOf(changes)).toEqual({}));
    await soon(() => a.store.create('k.x', '2'));
    await waitForNats(() => expect(stateOf(changes)).toEqual({ 'k.x': '2' }));
    expectNoneGoesBack(changes);
  });

  it('a server that is paused: each operation ends in time, and all goes on when it wakes', { tags: ['deep', 'P-535'] }, async () => {
    const nats = await startNats();
    const a = await joinNats(nats);
    const changes: StoreChange[] = [];
    await a.store.watch('k.', (change) => void changes.push(change));
    await nats.nodes[0]?.pause();
    const startMs = performance.now();
    await expect(a.store.create('k.x', '1')).rejects.toThrow(/no answer .* within 2 s/);
    expect(performance.now() - startMs).toBeLessThan(soonerThanNeverMs);
    await waitForNats(() => expect(a.bus.isConnected).toBe(false));
    nats.nodes[0]?.resume();
    // What had been sent before may have been done when it woke.
    await soon(() => a.store.create('k.y', '1'));
    await waitForNats(() => expect(stateOf(changes)).toMatchObject({ 'k.y': '1' }));
  });

  it('a cluster of three of which each server is killed in turn: no write is lost, none is made twice, watches go on', {
    tags: ['deep', 'P-535'],
  }, async () => {
    const nats = await startNats({ cluster: 3 });
    const hubs = await Promise.all(nats.urls.map((url) => joinNats(nats, { urls: [url, ...nats.urls] })));
    expect(await hubs[0]?.replicas()).toBe(3);
    const changes: StoreChange[] = [];
    await hubs[1]?.store.watch('', (change) => void (change.key.startsWith('count') && changes.push(change)));
    await hubs[0]?.store.create('count', '0');
    const end = new AbortController();
    const counting = hubs.map(({ store }) => countUp(store, 'count', end.signal));
    for (const node of nats.nodes) {
      await waitForProgress(changes);
      await node.kill();
      await waitForProgress(changes);
      await node.start();
    }
    await waitForProgress(changes);
    end.abort();
    const counts = await Promise.all(counting);
    const [done, unknown] = [sum(counts.map((count) => count.done)), sum(counts.map((count) => count.unknown))];
    const last = Number((await soon(async () => hubs[2]?.store.get('count')))?.value);
    expect(done).toBeGreaterThan(20);
    expect(last).toBeGreaterThanOrEqual(done);
    expect(last).toBeLessThanOrEqual(done + unknown);
    await waitForNats(() => expect(stateOf(changes)).toEqual({ count: String(last) }));
    expectNoneGoesBack(changes);
  });

  it('a cluster of three of which one runs: nothing is decided, each operation says so in time, and it heals', {
    tags: ['deep', 'P-535'],
  }, async () => {
    const nats = await startNats({ cluster: 3 });
    const a = await joinNats(nats);
    const revision = await a.store.create('k', '1');
    const others = nats.nodes.filter(({ url }) => !url.endsWith(a.server.split(':').at(-1) ?? ''));
    expect(others).toHaveLength(2);
    await Promise.all(others.map((node) => node.kill()));
    const startMs = performance.now();
    await expect(a.store.update('k', '2', revision)).rejects.toThrow(StoreUnavailable);
    expect(performance.now() - startMs).toBeLessThan(soonerThanNeverMs);
    await Promise.all(others.map((node) => node.start()));
    // What could not be done may be done now, late: it was in the log of the leader.
    await waitForNats(async () => {
      const entry = await a.store.get('k');
      await a.store.update('k', '3', entry?.revision ?? 0);
    });
  });

  it('a full store: says so, nothing is decided and nothing runs out, and writes are taken again when a person has made room', {
    tags: ['deep', 'P-537'],
  }, async () => {
    const nats = await startNats({ jetstream: { max_file_store: 2_000_000 } });
    const a = await joinNats(nats);
    const revision = await a.store.create('there', '1');
    const fill = async (): Promise<void> => {
      for (let index = 0; index < 20; index += 1) await a.store.create(`k.${index}`, 'x'.repeat(200_000), { ttlMs: 5000 });
    };
    // It is full before the first of them ends, on a busy machine too, and is looked at after that. The clock is that of NATS, and what does
    // not end is told by no event.
    const isOver = pause(6000);
    await expect(fill()).rejects.toThrow(/NATS refused to write "k\.\d+": .*full disk/);
    await expect(a.store.update('there', '2', revision)).rejects.toThrow(StoreUnavailable);
    await expect(a.store.remove('there', revision)).rejects.toThrow(StoreUnavailable);
    expect(await a.store.get('there')).toMatchObject({ value: '1', revision });
    await isOver;
    // The server would have to write a mark for what runs out, and can't.
    expect(await a.store.get('k.0')).toBeDefined();
    await askJetStream(nats, 'STREAM.PURGE.KV_notebridge-notebridge', { filter: '$KV.notebridge-notebridge.k.>' });
    await a.store.update('there', '2', revision);
  });

  it('a server that waits for a hub and does not hear it: nobody takes a part for all, also when it ends meanwhile', {
    tags: ['deep', 'P-592'],
  }, async () => {
    const deaf = { user: 'deaf', password: 'deaf', permissions: { publish: { allow: ['>'], deny: ['$JS.FC.>'] } } };
    const nats = await startNats({ config: { authorization: { users: [{ user: 'hub', password: 'hub' }, deaf] } } });
    const a = await joinNats(nats, { urls: nats.urls.map((url) => url.replace('//', '//hub:hub@')) });
    // More than it sends without an answer.
    await Promise.all(Array.from({ length: 20 }, (_, index) => a.store.create(`k.${index}`, 'x'.repeat(200_000))));
    expect(await a.store.list('k.')).toHaveLength(20);
    const connection = await connect({ servers: nats.urls, user: 'deaf', pass: 'deaf', maxReconnectAttempts: -1 });
    const link = await NatsLink.over(connection, silentLogger);
    onTestFinished(() => link.close());
    const store = new NatsStore({ link, bucket: 'notebridge-notebridge', logger: silentLogger, onMissing: () => {} });
    const stranger = await connect({ servers: nats.urls, user: 'hub', pass: 'hub', reconnect: false });
    onTestFinished(() => stranger.close());
    const stalled = new Promise<void>((resolve) => {
      stranger.subscribe('_INBOX.>', { callback: (_, { headers }) => void (headers?.has('Nats-Consumer-Stalled') && resolve()) });
    });
    await stranger.flush();
    const listing = store.list('k.');
    const refused = expect(listing).rejects.toThrow(/did not say within 5 s/);
    await stalled;
    await nats.nodes[0]?.kill();
    await refused;
  });

  it('a NATS that is away at the start: is waited for, for as long as was said', { tags: ['deep'] }, async () => {
    const nats = await startNats();
    await nats.nodes[0]?.kill();
    const away = connectNats({ settings: natsSettings([nats.url]), logger: silentLogger, waitMs: 600 });
    await expect(away).rejects.toMatchObject({
      code: 'cluster_unavailable',
      message: expect.stringContaining(`Cannot reach NATS at "${nats.url}"`),
    });
    const coming = joinNats(nats);
    await nats.nodes[0]?.start();
    await (await coming).store.create('k', '1');
  });

  it('a server that was away when a hub joined: is tried when the others are lost', { tags: ['deep', 'P-594'] }, async () => {
    const [one, two] = await Promise.all([startNats(), startNats()]);
    await one.nodes[0]?.kill();
    const a = await joinNats(two, { urls: [one.url, two.url] });
    expect(`nats://${a.server}`).toBe(two.url);
    await Promise.all([two.nodes[0]?.kill(), one.nodes[0]?.start()]);
    await waitForNats(() => expect([a.bus.isConnected, `nats://${a.server}`]).toEqual([true, one.url]));
    await soon(() => a.store.create('k', '1'));
  });

  it('ten thousand writes at once: each is made, and a lease is renewed among them as if they were not there', {
    tags: ['deep', 'P-526'],
  }, async () => {
    const nats = await startNats();
    const a = await joinNats(nats);
    let revision = await a.store.create('hub.a', '0');
    let isDone = false;
    const writes = Promise.all(Array.from({ length: 10_000 }, (_, index) => a.store.create(`k.${index}`, 'v'))).finally(() => {
      isDone = true;
    });
    let renewals = 0;
    while (!isDone) {
      revision = await a.store.update('hub.a', String(renewals), revision);
      renewals += 1;
    }
    expect(new Set(await writes).size).toBe(10_000);
    expect(renewals).toBeGreaterThan(20);
    expect(await a.store.list('k.')).toHaveLength(10_000);
  });
});

function stateOf(changes: readonly StoreChange[]): Record<string, string> {
  const last = new Map(changes.map((change) => [change.key, change]));
  return Object.fromEntries([...last.values()].flatMap(({ entry }) => (entry === undefined ? [] : [[entry.key, entry.value]])));
}

function expectNoneGoesBack(changes: readonly StoreChange[]): void {
  const last = new Map<string, number>();
  for (const { key, revision } of changes) {
    expect(revision).toBeGreaterThanOrEqual(last.get(key) ?? 0);
    last.set(key, revision);
  }
}

async function waitForProgress(changes: readonly StoreChange[]): Promise<void> {
  const from = changes.length;
  await waitForNats(() => expect(changes.length).toBeGreaterThan(from + 5));
}

/** Adds one, again and again, by compare-and-set. */
async function countUp(store: SharedStore, key: string, signal: AbortSignal): Promise<{ done: number; unknown: number }> {
  const count = { done: 0, unknown: 0 };
  while (!signal.aborted) {
    try {
      const entry = await store.get(key);
      if (entry === undefined) throw new Error('The entry is gone.');
      await store.update(key, String(Number(entry.value) + 1), entry.revision).then(
        () => {
          count.done += 1;
        },
        (error: unknown) => {
          if (error instanceof StoreUnavailable) count.unknown += 1;
          throw error;
        },
      );
    } catch (error) {
      if (!(error instanceof StoreConflict || error instanceof StoreUnavailable)) throw error;
    }
  }
  return count;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

async function removeStream(nats: Nats, stream: string): Promise<void> {
  await askJetStream(nats, `STREAM.DELETE.${stream}`);
}
