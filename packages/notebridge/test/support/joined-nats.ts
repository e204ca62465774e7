import type { ClusterSettings } from '@notebridge/cluster/cluster-settings';
import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import type { NatsCluster } from '@notebridge/cluster/nats/nats-cluster';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { StoreUnavailable } from '@notebridge/system/files/shared-store';
import { onTestFinished, vi } from 'vitest';
import { Nats, type StartNatsOptions } from './nats.js';
import { natsSettings } from './nats-settings.js';

/** Ends with the test. */
export async function startNats(options: StartNatsOptions = {}): Promise<Nats> {
  const nats = await Nats.start(options);
  onTestFinished(() => nats[Symbol.asyncDispose]());
  return nats;
}

/** As a hub joins; it leaves with the test. */
export async function joinNats(nats: Nats, more: Partial<ClusterSettings> = {}, logger: Logger = silentLogger): Promise<NatsCluster> {
  const cluster = await connectNats({ settings: natsSettings(nats.urls, more), logger, waitMs: 30_000 });
  onTestFinished(() => cluster.close());
  return cluster;
}

export function waitForNats(check: () => Promise<void> | void): Promise<void> {
  return vi.waitFor(check, { timeout: 60_000, interval: 50 });
}

/** Tries until it is available. */
export async function soon<T>(work: () => Promise<T>): Promise<T> {
  const attempt = () =>
    work().then(
      (value) => ({ value }),
      (error: unknown): undefined => {
        if (!(error instanceof StoreUnavailable)) throw error;
      },
    );
  const { value } = await vi.waitUntil(attempt, { timeout: 60_000, interval: 50 });
  return value;
}

/** As a person does with the tools of NATS. */
export async function askJetStream(nats: Nats, what: string, question: object = {}): Promise<unknown> {
  const { connect } = await import('@nats-io/transport-node');
  const connection = await connect({ servers: nats.urls });
  try {
    return (await connection.request(`$JS.API.${what}`, JSON.stringify(question), { timeout: 10_000 })).json();
  } finally {
    await connection.close();
  }
}
