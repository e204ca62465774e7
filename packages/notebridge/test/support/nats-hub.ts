import type { Claim, ServedCall } from '@notebridge/cluster/cluster-parts';
import { ExchangedCalls } from '@notebridge/cluster/hub-calls';
import { HubLease } from '@notebridge/cluster/hub-lease';
import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import { hubWire } from '@notebridge/cluster/packets';
import { ResourceClaims } from '@notebridge/cluster/resource-claims';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { systemRuntime as runtime } from '@notebridge/protocol/util/runtime';
import { natsSettings } from './nats-settings.js';

/** Lease, claims and calls of one hub at a real NATS, without doors and servers. */
export interface NatsHub {
  readonly lease: HubLease;
  readonly claims: ResourceClaims;
  readonly calls: ExchangedCalls;
  /** Takes a resource, and answers calls of it. */
  serve(resource: string, answer: (call: ServedCall) => Promise<JsonObject>): Promise<Claim>;
  /** Loses its connection for good, as a hub that is killed: others are told nothing. */
  cut(): Promise<void>;
  /** Leaves the cluster as a hub that ends. */
  close(): Promise<void>;
}

export async function openNatsHub(urls: readonly string[], name: string): Promise<NatsHub> {
  const settings = natsSettings(urls);
  const nats = await connectNats({ settings, logger: silentLogger, waitMs: 30_000 });
  const { store, bus } = nats;
  const lease = new HubLease({ store, runtime, about: { name, version: '0', wire: hubWire } });
  await lease.start();
  const claims = new ResourceClaims({ store, runtime, membership: lease });
  await claims.start();
  const key = Buffer.alloc(32, 7);
  const calls = new ExchangedCalls({ bus, runtime, membership: lease, claims, cluster: settings.name, key, logger: silentLogger });
  return {
    lease,
    claims,
    calls,
    serve: async (resource, answer) => {
      calls.serve(resource, answer);
      const claim = await claims.take(resource);
      if (claim === undefined) throw new Error(`Another hub has "${resource}".`);
      return claim;
    },
    cut: async () => {
      await nats.close();
      // Tells nobody any more.
      calls.close();
    },
    close: async () => {
      calls.close();
      await claims.close();
      await lease.leave();
      await nats.close();
    },
  };
}
