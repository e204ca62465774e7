import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { systemRuntime } from '@notebridge/protocol/util/runtime';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SharedAnswers } from '../../src/doors/tool-proxy/shared-answers.js';
import { type Outcome, StoredAnswers } from '../../src/doors/tool-proxy/stored-answers.js';
import { GrantStore } from '../../src/grants/grant-store.js';
import { Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { natsSettings } from '../support/nats-settings.js';

const clusterKey = Buffer.alloc(32, 7);
const closers: (() => Promise<void>)[] = [];
const waitFor = <T>(check: () => T): Promise<T> => vi.waitFor(check, { timeout: 45_000, interval: 5 });

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close().catch(() => {});
});

async function startNats(cluster: 1 | 3): Promise<Nats> {
  const nats = await Nats.start({ cluster });
  closers.push(() => nats[Symbol.asyncDispose]());
  return nats;
}

async function connect(url: string): Promise<Awaited<ReturnType<typeof connectNats>>> {
  const connection = await connectNats({ settings: natsSettings([url]), logger: silentLogger, waitMs: 30_000 });
  closers.push(() => connection.close());
  return connection;
}

async function openGrants(url: string): Promise<GrantStore> {
  const { store } = await connect(url);
  const grants = await GrantStore.openShared({ store, runtime: systemRuntime, logger: silentLogger, clusterKey });
  closers.push(() => grants.close());
  return grants;
}

describe.skipIf(natsProgram === undefined)(`grants over a real NATS${whyNoNats}`, () => {
  it('are seen as revoked by every hub, five hundred of them', { timeout: 240_000, tags: ['P-549'] }, async () => {
    const nats = await startNats(3);
    const hubs = await Promise.all(nats.urls.map(openGrants));
    const [one] = hubs as [GrantStore];
    const ids: string[] = [];
    for (let batch = 0; batch < 5; batch++) {
      const issued = await Promise.all(Array.from({ length: 100 }, () => one.issue({ calls: 10 })));
      ids.push(...issued.map(({ id }) => id));
    }
    for (const hub of hubs) await waitFor(() => expect(ids.every((id) => typeof hub.get(id) === 'object')).toBe(true));
    expect(await Promise.all(ids.map((id) => one.revoke(id)))).toEqual(ids.map(() => true));
    // How soon: `npm run bench -- cluster`.
    for (const hub of hubs) await waitFor(() => expect(ids.filter((id) => hub.get(id) !== 'revoked')).toEqual([]));
  });

  it('no call too many is given to two hubs that make a thousand each at random', {
    timeout: 240_000,
    tags: ['deep', 'P-548'],
  }, async () => {
    const nats = await startNats(1);
    const hubs = await Promise.all([openGrants(nats.url), openGrants(nats.url)]);
    const [one] = hubs;
    const { id } = await one.issue({ calls: 700 });
    for (const hub of hubs) await waitFor(() => expect(typeof hub.get(id)).toBe('object'));
    const calls = Array.from({ length: 2000 }, async () => {
      const hub = hubs[Math.floor(Math.random() * 2)] as GrantStore;
      const grant = hub.get(id);
      return typeof grant !== 'string' && hub.takeCall(grant);
    });
    expect((await Promise.all(calls)).filter(Boolean)).toHaveLength(700);
  });

  it('are refused after the loss of NATS, and accepted when it is back', { timeout: 240_000, tags: ['P-550'] }, async () => {
    const nats = await startNats(1);
    const grants = await openGrants(nats.url);
    const { token, id } = await grants.issue();
    expect(grants.find(token)).toMatchObject({ id });
    await nats.nodes[0]?.kill();
    await waitFor(() => expect(grants.find(token)).toBe('unverified'));
    await nats.nodes[0]?.start();
    await waitFor(() => expect(grants.find(token)).toMatchObject({ id }));
  });

  it('have answers by Idempotency-Key at every hub, of a quarter of a megabyte too', { tags: ['deep'], timeout: 240_000 }, async () => {
    const nats = await startNats(1);
    const open = async (name: string): Promise<SharedAnswers> => {
      const { store } = await connect(nats.url);
      const large = new StoredAnswers({ maxAnswers: 10, maxBytes: 1e7, keepMs: 600_000, now: systemRuntime.steady });
      return new SharedAnswers({
        store,
        runtime: systemRuntime,
        clusterKey,
        hubId: () => name,
        isHubAlive: () => true,
        large,
        keepMs: 600_000,
      });
    };
    const [one, two] = [await open('one'), await open('two')];
    const outcome: Outcome = { status: 200, text: 'x'.repeat(256 * 1024), headers: [], hasRun: true };
    let calls = 0;
    const call = async (): Promise<Outcome> => {
      calls++;
      return outcome;
    };
    const answered = await Promise.all([one, two, one, two].map((answers) => answers.run({ holder: 'a', key: 'k' }, 'f', call)));
    expect(calls).toBe(1);
    expect(answered.every((answer) => 'text' in answer && answer.text === outcome.text)).toBe(true);
    await Promise.all([one.settled(), two.settled()]);
  });
});
