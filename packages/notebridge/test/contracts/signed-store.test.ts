import { randomBytes } from 'node:crypto';
import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import { createSignedStore } from '@notebridge/cluster/signed-store';
import { silentLogger } from '@notebridge/protocol/util/logger';
import type { SharedStore } from '@notebridge/system/files/shared-store';
import { describe, expect, it, vi } from 'vitest';
import { Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { natsSettings } from '../support/nats-settings.js';
import { describeSharedStoreContract, type StoreUnderTest } from './shared-store-contract.js';

const key = randomBytes(32);
const sign = (store: SharedStore, secret = key): SharedStore =>
  createSignedStore(store, { key: secret, name: 'test', logger: silentLogger });

describe.skipIf(natsProgram === undefined)(`signed entries${whyNoNats}`, () => {
  describeSharedStoreContract('one nats-server', async (): Promise<StoreUnderTest> => {
    const nats = await Nats.start();
    const connect = () => connectNats({ settings: natsSettings([nats.url]), logger: silentLogger, waitMs: 30_000 });
    const [one, two] = [await connect(), await connect()];
    return {
      stores: [sign(one.store), sign(two.store)],
      waitFor: (check) => vi.waitFor(check, { timeout: 45_000, interval: 50 }),
      close: async () => {
        await Promise.all([one.close(), two.close()]);
        await nats[Symbol.asyncDispose]();
      },
    };
  });

  it('an entry of a stranger, of another key, or moved to another place does not exist', { tags: ['P-562'] }, async () => {
    await using nats = await Nats.start();
    const { store, close } = await connectNats({ settings: natsSettings([nats.url]), logger: silentLogger, waitMs: 30_000 });
    try {
      const ours = sign(store);
      const told = new Map<string, string | undefined>();
      const watch = await ours.watch('', ({ key: at, entry }) => told.set(at, entry?.value));
      await ours.create('grant.good', 'for ann');
      const good = await store.get('grant.good');
      await store.create('grant.moved', good?.value ?? '');
      await store.create('grant.bare', '{"allow":["*:*"]}');
      await sign(store, randomBytes(32)).create('grant.forged', 'for eve');
      await ours.create('last', 'one');
      await vi.waitFor(() => expect(told.get('last')).toBe('one'), 45_000);
      watch.close();
      expect(told.get('grant.good')).toBe('for ann');
      expect((await ours.list('grant.')).map(({ key: at }) => at)).toEqual(['grant.good']);
      for (const at of ['grant.moved', 'grant.bare', 'grant.forged']) {
        expect(await ours.get(at)).toBeUndefined();
        expect(told.get(at)).toBeUndefined();
      }
    } finally {
      await close();
    }
  });
});
