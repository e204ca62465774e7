// @module-tag deep
import { readFileSync, writeFileSync } from 'node:fs';
import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import type { ConnectNatsOptions, NatsCluster } from '@notebridge/cluster/nats/nats-cluster';
import { type Logger, silentLogger, toLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askJetStream, startNats, waitForNats } from '../support/joined-nats.js';
import { type Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { natsSettings } from '../support/nats-settings.js';

describe.skipIf(natsProgram === undefined)(`the streams of hubs at NATS${whyNoNats}`, { timeout: 120_000 }, () => {
  it('are on three servers once there are three, and take all else before; who only tries changes none', {
    tags: ['deep', 'P-593'],
  }, async () => {
    // The third has no room for the audit; until it is heard of, the servers of a NATS that is being started have as little.
    const nats = await startNats({ cluster: 3, jetstream: (index) => ({ max_file_store: index === 2 ? 1_000_000 : 100_000_000 }) });
    const [, , third] = nats.nodes;
    // Who leads the others refuses what it has no room for itself: that is another.
    const waitForLeader = () => waitForNats(() => askJetStream(nats, 'STREAM.NAMES').then(() => {}));
    await waitForLeader();
    await third?.kill();
    await waitForLeader();
    await third?.start();
    const warnings: string[] = [];
    const logger = toLogger((level, message) => void (level === 'warn' && warnings.push(message)));
    const a = await join(nats, 10_000_000, { logger, growMs: 100 });
    await join(nats, 30_000_000, { purpose: 'try' });
    expect(await auditConfig(nats)).toMatchObject({ max_bytes: 10_000_000, num_replicas: 1 });
    // As an older version has made it.
    await askJetStream(nats, 'STREAM.UPDATE.notebridge-notebridge-audit', { ...(await auditConfig(nats)), duplicate_window: 120e9 });
    await join(nats, 20_000_000);
    expect(await auditConfig(nats)).toMatchObject({ max_bytes: 20_000_000, num_replicas: 1, duplicate_window: 600e9 });
    await third?.kill();
    const configFile = third?.configFile ?? '';
    writeFileSync(configFile, readFileSync(configFile, 'utf8').replace('"max_file_store":1000000', '"max_file_store":100000000'));
    await third?.start();
    await waitForNats(async () => expect(await auditConfig(nats)).toMatchObject({ num_replicas: 3 }));
    await waitForNats(async () => expect(await a.replicas()).toBe(3));
    // One stream or both; it is said once.
    expect(warnings.filter((text) => text.includes('of NATS'))).toEqual([
      expect.stringMatching(/keeps the stream ".*": there are no three/),
    ]);
  });
});

/** Asks none but servers that run. */
async function join(nats: Nats, maxBytes: number, more: Partial<ConnectNatsOptions> & { logger?: Logger } = {}): Promise<NatsCluster> {
  const settings = natsSettings(nats.urls.slice(0, 2), { audit: { maxDays: 1, maxBytes } });
  const cluster = await connectNats({ settings, logger: silentLogger, waitMs: 30_000, ...more });
  onTestFinished(() => cluster.close());
  return cluster;
}

async function auditConfig(nats: Nats): Promise<object> {
  return ((await askJetStream(nats, 'STREAM.INFO.notebridge-notebridge-audit')) as { config: object }).config;
}
