// @module-tag P-588

import type { Claim } from '@notebridge/cluster/cluster-parts';
import { HubLease } from '@notebridge/cluster/hub-lease';
import { hubWire } from '@notebridge/cluster/packets';
import { ResourceClaims } from '@notebridge/cluster/resource-claims';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryCluster, type MemoryLink } from '../../../test/support/memory-cluster.js';
import { createSteppedRuntime, type SteppedRuntime } from '../../../test/support/stepped-runtime.js';
import { pageResources, printPageRecord } from './page-records.js';
import { PageTidy } from './page-tidy.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

interface TidyHub {
  lease: HubLease;
  claims: ResourceClaims;
  tidy: PageTidy;
  link: MemoryLink;
}

describe('PageTidy', () => {
  let runtime: SteppedRuntime;
  let memory: MemoryCluster;
  let one: TidyHub;
  let two: TidyHub;
  beforeEach(async () => {
    runtime = createSteppedRuntime();
    memory = new MemoryCluster(runtime);
    [one, two] = await Promise.all([startHub('one'), startHub('two')]);
  });
  afterEach(async () => {
    for (const { tidy, claims, lease } of [one, two]) {
      tidy.close();
      await claims.close();
      await lease.leave();
    }
    memory.close();
  });

  const startHub = async (name: string): Promise<TidyHub> => {
    const link = memory.connect();
    const { store } = link;
    const lease = new HubLease({ store, runtime, about: { name, version: '0', wire: hubWire, url: undefined } });
    const claims = new ResourceClaims({ store, runtime, membership: lease });
    await Promise.all([lease.start(), claims.start()]);
    return { lease, claims, link, tidy: new PageTidy({ claims, membership: lease, runtime }) };
  };
  /** Of a page that a hub has; written so long ago, by the clock of who wrote it. */
  const take = async ({ claims }: TidyHub, id: string, { hadPage = true, ageMs = 0 } = {}): Promise<Claim> => {
    const record = printPageRecord({
      ...{ profile: 'page', url: 'https://page.example/', allowOrigins: [], tokens: { passes: [], lasting: [] } },
      ...{ toolsKey: undefined, title: id, hadPage, at: runtime.now() - ageMs },
    });
    const claim = await claims.take(pageResources + id, record);
    if (claim === undefined) throw new Error(`Another hub has "${id}".`);
    return claim;
  };
  /** Of a page that nobody has any more. */
  const leave = async (hub: TidyHub, id: string, options: { hadPage?: boolean; ageMs?: number } = {}): Promise<void> =>
    (await take(hub, id, options)).release();
  const kept = (): string[] =>
    [...memory.entries.keys()].flatMap((key) => (key.startsWith('claim.page.') ? [key.slice('claim.page.'.length)] : [])).sort();

  it('forgets what had a page a day ago, or never had one, once nobody has had it for an hour', async () => {
    one.tidy.start();
    await leave(two, 'old', { ageMs: dayMs });
    await leave(two, 'young', { ageMs: dayMs - 3 * hourMs });
    await leave(two, 'empty', { hadPage: false });
    const elsewhere = await take(two, 'elsewhere', { ageMs: 2 * dayMs });
    const here = await take(one, 'here', { hadPage: false });
    await two.claims.take('server.s');
    await runtime.pass(hourMs);
    expect(kept()).toEqual(['elsewhere', 'empty', 'here', 'old', 'young']);
    await runtime.pass(20 * minuteMs);
    expect(kept()).toEqual(['elsewhere', 'here', 'young']);
    expect(one.claims.records(pageResources).map(({ resource }) => resource)).not.toContain('page.old');
    await runtime.pass(2 * hourMs);
    expect(kept()).toEqual(['elsewhere', 'here']);
    expect([elsewhere.isHeld(), here.isHeld(), memory.entries.has('claim.server.s')]).toEqual([true, true, true]);
  });

  it('forgets those of a hub that was killed, and none of a hub that lives', async () => {
    await take(two, 'of two', { ageMs: dayMs });
    one.tidy.start();
    await runtime.pass(2 * hourMs);
    expect(kept()).toEqual(['of two']);
    two.link.setCut(true);
    await runtime.pass(hourMs);
    expect(kept()).toEqual(['of two']);
    await runtime.pass(30 * minuteMs);
    expect(kept()).toEqual([]);
  });

  it('counts the hour anew when somebody has had it in between', async () => {
    one.tidy.start();
    await leave(two, 'p', { ageMs: dayMs });
    await runtime.pass(50 * minuteMs);
    const claim = await take(two, 'p', { ageMs: dayMs });
    // Over a look of the hub that tidies.
    await runtime.pass(15 * minuteMs);
    await claim.release();
    await runtime.pass(50 * minuteMs);
    expect(kept()).toEqual(['p']);
    await runtime.pass(30 * minuteMs);
    expect(kept()).toEqual([]);
  });

  it('takes nothing from this hub that comes to it while others are forgotten', async () => {
    for (const id of ['a', 'b', 'c']) await leave(two, id, { ageMs: dayMs });
    await runtime.pass(minuteMs);
    await one.tidy.tidy();
    await runtime.pass(hourMs);
    const tidied = one.tidy.tidy();
    const back = await take(one, 'c', { ageMs: dayMs });
    await tidied;
    expect(kept()).toEqual(['c']);
    expect(back.isHeld()).toBe(true);
  });

  it('does no harm at two hubs at once, and none at one that is away', async () => {
    for (const hub of [one, two]) hub.tidy.start();
    for (let at = 0; at < 20; at++) await leave(two, `p${at}`, { ageMs: dayMs });
    one.link.setCut(true);
    await runtime.pass(50 * minuteMs);
    one.link.setCut(false);
    await runtime.pass(30 * minuteMs);
    expect(kept()).toEqual([]);
    expect([one, two].map(({ lease }) => lease.isHeld())).toEqual([true, true]);

    await leave(two, 'last', { ageMs: dayMs });
    two.tidy.close();
    await runtime.pass(minuteMs);
    await one.tidy.tidy();
    await runtime.pass(minuteMs);
    one.link.setCut(true);
    await runtime.pass(2 * hourMs);
    await one.tidy.tidy();
    expect(kept()).toEqual(['last']);
  });

  it('looks no more once it is closed', async () => {
    one.tidy.start();
    await leave(two, 'p', { ageMs: dayMs });
    await runtime.pass(30 * minuteMs);
    one.tidy.close();
    await runtime.pass(3 * hourMs);
    expect(kept()).toEqual(['p']);
  });
});
