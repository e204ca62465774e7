// @module-tag deep
// @module-tag P-526

import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, vi } from 'vitest';
import { Nats, natsProgram, type StartNatsOptions, whyNoNats } from '../support/nats.js';
import { natsSettings } from '../support/nats-settings.js';
import { describeSharedStoreContract, type StoreUnderTest } from './shared-store-contract.js';

describe.skipIf(natsProgram === undefined)(`NATS${whyNoNats}`, () => {
  describeSharedStoreContract('one nats-server', () => createUnderTest({}));
  describeSharedStoreContract('a NATS cluster of three', () => createUnderTest({ cluster: 3 }));
});

/** Each hub is connected to another server, where there are several. */
async function createUnderTest(options: StartNatsOptions): Promise<StoreUnderTest> {
  const nats = await Nats.start(options);
  const connect = (url: string) => connectNats({ settings: natsSettings([url]), logger: silentLogger, waitMs: 30_000 });
  const [one, two] = [await connect(nats.url), await connect(nats.urls.at(-1) as string)];
  return {
    stores: [one.store, two.store],
    waitFor: (check) => vi.waitFor(check, { timeout: 45_000, interval: 50 }),
    close: async () => {
      await Promise.all([one.close(), two.close()]);
      await nats[Symbol.asyncDispose]();
    },
  };
}
