import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HubView, Membership } from '@notebridge/cluster/cluster-parts';
import { expect, it, onTestFinished } from 'vitest';
import { createFastRuntime } from '../../../test/support/memory-cluster.js';
import { jsonOf, openToolProxy } from '../../../test/support/tool-proxy.js';
import { PlaceWatch } from './place-watch.js';

const clusterKey = randomBytes(32);
const soon = { timeout: 20_000, interval: 20 };

/** A hub at a real port, of which the test says whether it holds its lease, and which hubs it knows. */
async function openHub(id: string, key = clusterKey) {
  let isHeld = true;
  const others: HubView[] = [];
  const listeners = new Set<() => void>();
  const bus = { isConnected: true };
  const view: HubView = { id, name: id, version: '0', wire: { newest: 1, oldest: 1 }, startedAt: 0, load: 0, isDraining: false };
  const self = (): HubView => ({ ...view, askAt: http.origin });
  const membership: Membership = {
    get self() {
      return self();
    },
    isHeld: () => isHeld,
    hubs: () => (isHeld ? [self(), ...others] : others),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const watch = new PlaceWatch({ membership, bus, runtime: createFastRuntime(20), clusterKey: key, refusal: () => undefined });
  const http = await openToolProxy({ cluster: watch });
  onTestFinished(async () => {
    watch.close();
    await http.close();
  });
  const set = (held: boolean): void => {
    isHeld = held;
    for (const listener of listeners) listener();
  };
  const ready = async () => {
    const response = await fetch(`${http.origin}/readyz`);
    return [response.status, ((await response.json()) as { status: string }).status];
  };
  return { watch, http, others, bus, self, set, ready };
}

it('a hub that alone has lost its place is not ready; where all have lost theirs each is, and says so', { tags: ['P-714'] }, async () => {
  const [a, b] = [await openHub('a'), await openHub('b')];
  a.others.push(b.self());
  b.others.push(a.self());
  expect(await a.ready()).toEqual([200, 'ok']);
  a.set(false);
  await expect.poll(a.ready, soon).toEqual([503, 'cut_off']);
  expect(await b.ready()).toEqual([200, 'ok']);
  // What is left of the time of its lease is no place any more.
  b.bus.isConnected = false;
  await expect.poll(a.ready, soon).toEqual([200, 'degraded']);
  b.set(false);
  expect(await b.ready()).toEqual([200, 'degraded']);
  const { checks } = (await jsonOf(fetch(`${a.http.origin}/readyz?verbose`))) as {
    checks: { name: string; ready: boolean; text: string }[];
  };
  expect(checks.map(({ name, ready }) => [name, ready])).toEqual([
    ['drain', true],
    ['boot', true],
    ['cluster', true],
    ['servers', true],
  ]);
  expect(checks.find(({ name }) => name === 'cluster')?.text).toContain('no other says that it has one');
  // One of them has its place again before the other.
  b.bus.isConnected = true;
  b.set(true);
  await expect.poll(a.ready, soon).toEqual([503, 'cut_off']);
  a.set(true);
  expect(await a.ready()).toEqual([200, 'ok']);
});

it('nobody without the key of the cluster takes a hub out of service', { tags: ['P-714'] }, async () => {
  const [a, b, otherCluster] = [await openHub('a'), await openHub('b'), await openHub('other', randomBytes(32))];
  let asked = 0;
  const stranger = createServer((_, response) => {
    asked++;
    response.end('{"place":"held","proof":"guessed"}');
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void stranger.close());
  const { port } = stranger.address() as AddressInfo;
  a.others.push(otherCluster.self(), { ...b.self(), askAt: 'http://127.0.0.1:2' }, { ...b.self(), askAt: `http://127.0.0.1:${port}` });
  a.set(false);
  // Asked again, it has judged what it was answered first.
  await expect.poll(() => asked, soon).toBeGreaterThan(1);
  expect(await a.ready()).toEqual([200, 'degraded']);
  a.others.push(b.self());
  await expect.poll(a.ready, soon).toEqual([503, 'cut_off']);
  const odd = await fetch(`${b.http.origin}/readyz?challenge=short`);
  expect(odd.status).toBe(400);
});

it('a hub that joins is waited for as its servers are; one that is refused is not ready', { tags: ['P-714'] }, async () => {
  let nowMs = 0;
  const place = { place: 'joining' as 'joining' | 'refused', answer: () => ({ place: 'lost' as const, proof: '' }) };
  await using hub = await openToolProxy({ cluster: place, clock: () => nowMs, limits: { serversReadyMs: 5000 } });
  const ready = async () => {
    const response = await fetch(`${hub.origin}/readyz`);
    return [response.status, await response.json()];
  };
  expect(await ready()).toEqual([503, { status: 'starting' }]);
  nowMs = 5000;
  expect(await ready()).toEqual([200, { status: 'degraded' }]);
  place.place = 'refused';
  expect(await ready()).toEqual([503, { status: 'cut_off' }]);
});
