// @module-tag P-554

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HubCluster } from '../support/hub-cluster.js';
import { natsProgram, whyNoNats } from '../support/nats.js';

const callsServer = fileURLToPath(new URL('../fixtures/servers/calls.mjs', import.meta.url));
const bucket = 'notebridge-notebridge';
/** The client's own second is over on a busy machine before a server has had its turn. Milliseconds. */
const timeout = 30_000;

/** Has every right at NATS, and not the key of the cluster. */
class Stranger implements AsyncDisposable {
  readonly connection: NatsConnection;

  constructor(connection: NatsConnection) {
    this.connection = connection;
  }

  put(key: string, value: Uint8Array | string, kind?: 'DEL'): Promise<unknown> {
    const options = { timeout, headers: headers() };
    if (kind !== undefined) options.headers.set('KV-Operation', kind);
    return this.connection.request(`$KV.${bucket}.${key}`, value, options);
  }

  async get(key: string): Promise<Buffer> {
    const question = JSON.stringify({ last_by_subj: `$KV.${bucket}.${key}` });
    const answer = await this.connection.request(`$JS.API.STREAM.MSG.GET.KV_${bucket}`, question, { timeout });
    return Buffer.from(answer.json<{ message?: { data?: string } }>().message?.data ?? '', 'base64');
  }

  async keys(): Promise<string[]> {
    const answer = await this.connection.request(`$JS.API.STREAM.INFO.KV_${bucket}`, '{"subjects_filter":">"}', { timeout });
    const subjects = Object.keys(answer.json<{ state: { subjects?: object } }>().state.subjects ?? {});
    return subjects.map((subject) => subject.slice(`$KV.${bucket}.`.length));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection.close();
  }
}

describe.skipIf(natsProgram === undefined)(`hubs, with a stranger at their NATS${whyNoNats}`, () => {
  let cluster: HubCluster;
  let stranger: Stranger;
  let folder: string;
  let countFile: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    countFile = join(folder, 'count');
    writeFileSync(countFile, '');
    cluster = await HubCluster.start({
      names: ['a', 'b'],
      servers: (name) => ({ one: { command: process.execPath, args: [callsServer, countFile], env: { HUB: name }, placement: 'one' } }),
    });
    stranger = new Stranger(await connect({ servers: cluster.nats.url }));
  });
  afterAll(async () => {
    await stranger?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const owners = async (): Promise<string[]> =>
    Promise.all(
      [...cluster.hubs.values()].map(async (hub) => {
        const { answer } = await hub.call('one', 'env', {}, hub.ownerToken);
        return String((answer.result as { HUB?: string } | null)?.HUB ?? JSON.stringify(answer));
      }),
    );

  /** Two hubs that have both failed answer the same, too. */
  const haveOne = () => expect.poll(async () => [...new Set(await owners())].join(), { interval: 250 }).toMatch(/^[ab]$/);

  it('have one server of those placed so, also when the entry of its claim is removed, written over or put back', async () => {
    await haveOne();
    const key = (await stranger.keys()).find((each) => each.startsWith('claim.server.')) ?? '';
    await expect.poll(async () => (await stranger.get(key)).toString()).toContain('running');
    const entry = await stranger.get(key);
    for (const harm of [() => stranger.put(key, '', 'DEL'), () => stranger.put(key, 'garbage'), () => stranger.put(key, entry)]) {
      await harm();
      // By the hub that has it, or by the other one where that is faster.
      await expect.poll(async () => (await stranger.get(key)).toString()).toContain('running');
      await haveOne();
    }
  });

  it('make no call of what was recorded, changed, cut or made up, and go on with all others', async () => {
    const { connection } = stranger;
    const packets: [string, Uint8Array][] = [];
    const spy = connection.subscribe('notebridge.notebridge.hub.>', {
      callback: (_, { subject, data }) => void packets.push([subject, Buffer.from(data)]),
    });
    await connection.flush();
    const hubs = [...cluster.hubs.values()];
    const call = (n: string): Promise<number[]> =>
      Promise.all(hubs.map(async (hub) => (await hub.call('one', 'count', { n }, hub.ownerToken)).status));
    expect(await call('once')).toEqual([200, 200]);
    await expect.poll(() => packets.length).toBeGreaterThan(2);
    spy.unsubscribe();
    const ids = (await stranger.keys()).filter((key) => key.startsWith('hub.')).map((key) => key.slice(4));
    for (const [subject, packet] of packets.slice(0, 200)) {
      const changed = Uint8Array.from(packet);
      changed[packet.length >> 1] = (changed[packet.length >> 1] ?? 0) ^ 1;
      for (const to of [subject, ...ids.map((id) => `notebridge.notebridge.hub.${id}`)])
        for (const bytes of [packet, changed, packet.subarray(0, packet.length >> 1), packet.subarray(0, 3), new Uint8Array(100_000)])
          connection.publish(to, bytes);
    }
    await connection.flush();
    expect(await call('after')).toEqual([200, 200]);
    const counted = readFileSync(countFile, 'utf8').split('\n').slice(0, -1);
    expect(counted.sort()).toEqual(['count after', 'count after', 'count once', 'count once']);
  });

  it('come back by themselves when every entry was written over, removed and put back', async () => {
    const before = new Map(await Promise.all((await stranger.keys()).map(async (key) => [key, await stranger.get(key)] as const)));
    for (const key of before.keys()) await stranger.put(key, '{"ended":true}');
    for (const key of before.keys()) await stranger.put(key, '', 'DEL');
    for (const [key, value] of before) await stranger.put(key, value);
    await haveOne();
    const { token } = await cluster.hub('a').grant('--allow', 'one:echo', '--calls', '2');
    const outcomes: unknown[] = [];
    for (const name of ['a', 'b', 'a', 'b']) outcomes.push((await cluster.hub(name).call('one', 'echo', {}, token)).answer.error_code);
    expect(outcomes).toEqual([null, null, 'budget_exhausted', 'budget_exhausted']);
  });
});
