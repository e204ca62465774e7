// @module-tag deep

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLegacyAgent } from '../support/http-agent.js';
import { HubCluster } from '../support/hub-cluster.js';
import { Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { addressIn } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { ServedHub } from '../support/served-hub.js';

interface Cluster {
  name: string;
  state: string;
  since: string;
  text: string | null;
  nats: { connected: boolean };
  grants_refused: boolean;
  hubs: { name: string; is_this: boolean; draining: boolean; servers: JsonObject; pages: JsonObject }[];
}

const callsServer = fileURLToPath(new URL('../fixtures/servers/calls.mjs', import.meta.url));
const soon = { timeout: 45_000, interval: 100 };

describe.skipIf(natsProgram === undefined)(`what the owner of a hub is told of its cluster${whyNoNats}`, { timeout: 240_000 }, () => {
  let cluster: HubCluster;
  let folder: string;
  let page: RawPage | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-status-'));
    writeFileSync(join(folder, 'count'), '');
    const one = { command: process.execPath, args: [callsServer, join(folder, 'count')], placement: 'one' };
    cluster = await HubCluster.start({
      names: ['a', 'b'],
      cluster: { drainMs: 60_000 },
      servers: () => ({ one }),
      args: () => ['--notebook', 'colab', '--no-browser'],
    });
  });
  afterAll(async () => {
    page?.socket.terminate();
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const see = async (hub: ServedHub, token = hub.ownerToken): Promise<Cluster> => {
    const answer = (await (await hub.request('/api/v1/hub', { token })).json()) as { cluster: Cluster };
    return answer.cluster;
  };
  const hubIn = ({ hubs }: Cluster, name: string) => hubs.find((hub) => hub.name === name);
  /** The hub that runs the one server, and the other. */
  const ofServer = async (): Promise<[string, string]> => {
    const { hubs } = await see(cluster.hub('a'));
    const owner = hubs.find(({ servers }) => servers.count === 1)?.name ?? '';
    return [owner, owner === 'a' ? 'b' : 'a'];
  };

  it('names the hubs, which one it is, and what each has', { tags: ['P-576'] }, async () => {
    await expect.poll(async () => (await ofServer())[0], soon).toMatch(/^[ab]$/);
    const [owner] = await ofServer();
    for (const name of ['a', 'b']) {
      const hub = cluster.hub(name);
      const told = await see(hub);
      expect(told).toMatchObject({ name: 'notebridge', state: 'joined', text: null, nats: { connected: true }, grants_refused: false });
      expect(told.hubs.map((one) => [one.name, one.is_this])).toEqual([
        [name, true],
        [name === 'a' ? 'b' : 'a', false],
      ]);
      expect(hubIn(told, name)).toMatchObject({ address: hub.url, draining: false });
      await expect
        .poll(async () => hubIn(await see(hub), owner)?.servers, soon)
        .toEqual({ count: 1, first: [{ name: 'one', status: 'running' }] });
    }
    const { stdout } = await cluster.hub('a').run('status');
    expect(stdout).toMatch(/^Cluster +notebridge, joined for \d+ (?:s|min); 2 hubs\n +a \(this one\).*\n +b/m);
    expect(stdout).toMatch(new RegExp(`^ +${owner}.*: server one$`, 'm'));
    const { cluster: asJson } = JSON.parse((await cluster.hub('a').run('status', '--json')).stdout) as { cluster: Cluster };
    expect(asJson.hubs.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('counts the pages of each hub, and tells their titles to the owner alone', { tags: ['P-579'] }, async () => {
    const [a, b] = [cluster.hub('a'), cluster.hub('b')];
    expect(hubIn(await see(b), 'a')?.pages).toEqual({ count: 0, first: [] });
    const agent = await openLegacyAgent(a, () => a.ownerToken, 'agent');
    const { result } = await agent('tools/call', { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } });
    page = await RawPage.serve({ port: a.port, token: addressIn(JSON.stringify(result)).token });
    for (const hub of [a, b])
      await expect
        .poll(async () => hubIn(await see(hub), 'a')?.pages, soon)
        .toEqual({ count: 1, first: [{ id: expect.stringMatching(/^page-/), title: expect.stringContaining('Colab') }] });
    expect((await b.run('status')).stdout).toMatch(/^ +a: .*1 page$/m);
    const { token } = await b.grant('--door', 'watch');
    expect(hubIn(await see(b, token), 'a')?.pages).toEqual({ count: 1, first: [] });
  });

  it('answers as it is described', { tags: ['P-576'] }, async () => {
    const hub = cluster.hub('a');
    const document = (await (await hub.request('/api/v1/hub/openapi.json')).json()) as JsonObject;
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
    ajv.addSchema(document, 'api');
    const validate = ajv.getSchema('api#/components/schemas/Hub');
    validate?.(await (await hub.request('/api/v1/hub', { token: hub.ownerToken })).json());
    expect(validate?.errors).toBeNull();
  });

  it('tells of a change at once, and of a hub that is draining', { tags: ['deep', 'P-580'] }, async () => {
    const [owner, other] = await ofServer();
    const events = await cluster.hub(other).request('/api/v1/hub/events', { token: cluster.hub(other).ownerToken });
    const [reader, decoder] = [events.body?.getReader(), new TextDecoder()];
    // It drains for as long as this call runs.
    const hangsUp = new AbortController();
    const running = cluster.hub(owner).request('/api/v1/mcp/proxy/one/tools/wait', {
      token: cluster.hub(owner).ownerToken,
      body: { arguments: { key: 'k' } },
      signal: hangsUp.signal,
    });
    running.catch(() => undefined);
    await expect.poll(async () => (await see(cluster.hub(owner))).hubs[0], soon).toMatchObject({ calls: 1 });
    const endedAt = Date.now();
    const ended = cluster.hub(owner).stop();
    await expect.poll(async () => hubIn(await see(cluster.hub(other)), owner), soon).toMatchObject({ draining: true });
    await expect.poll(async () => await see(cluster.hub(owner)), soon).toMatchObject({ state: 'draining', text: expect.any(String) });
    expect(Date.parse((await see(cluster.hub(owner))).since)).toBeGreaterThanOrEqual(endedAt);
    expect((await cluster.hub(owner).run('status')).stdout).toMatch(/^cluster {2}for \d+ (?:s|min): This hub ends: /);
    let heard = '';
    while (!heard.includes('event: cluster\n')) heard += decoder.decode((await reader?.read())?.value);
    await reader?.cancel();
    hangsUp.abort();
    await ended;
    await expect.poll(async () => (await see(cluster.hub(other))).hubs.map(({ name }) => name), soon).toEqual([other]);
    await expect
      .poll(async () => (await see(cluster.hub(other))).hubs[0]?.servers, soon)
      .toEqual({ count: 1, first: [{ name: 'one', status: 'running' }] });
    await cluster.add(owner);
    await cluster.seen(other, [owner]);
  });

  it('says that NATS is lost, since when and what that means, and asks nobody for it', { tags: ['deep', 'P-577'] }, async () => {
    const [owner, other] = await ofServer();
    const hub = cluster.hub(owner);
    const { token } = await hub.grant('--door', 'watch');
    const killedAt = Date.now();
    await cluster.nats.nodes[0]?.kill();
    await expect
      .poll(() => see(hub), soon)
      .toMatchObject({ state: 'cut_off', text: expect.stringContaining('lost the connection to NATS') });
    await expect.poll(async () => (await see(hub)).state, soon).toBe('lost');
    const told = await see(hub);
    expect(told).toMatchObject({ nats: { connected: false }, grants_refused: true });
    expect(told.text).toMatch(
      /lost NATS, and its place in the cluster\. Grants are refused.*servers with `placement: one` have stopped here/,
    );
    expect(Date.parse(told.since)).toBeGreaterThanOrEqual(killedAt);
    // As known last, and its own as it is.
    expect(told.hubs.map(({ name, servers }) => [name, servers.count])).toEqual([
      [owner, 0],
      [other, 0],
    ]);
    const { servers } = (await (await hub.request('/api/v1/hub', { token: hub.ownerToken })).json()) as { servers: JsonObject[] };
    expect(servers).toMatchObject([{ name: 'one', status: 'stopped' }]);
    expect((await hub.request('/api/v1/hub', { token })).status).toBe(503);
    const { stdout } = await hub.run('status');
    expect(stdout).toMatch(/^cluster {2}for \d+ (?:s|min): This hub has lost NATS, /);
    expect(stdout).toMatch(/^Cluster +notebridge, not joined for \d+ (?:s|min); 2 hubs, as known last$/m);
    await cluster.nats.nodes[0]?.start();
    await expect.poll(async () => await see(hub), soon).toMatchObject({ state: 'joined', text: null, grants_refused: false });
    await expect.poll(async () => (await see(hub)).hubs.map(({ name }) => name), soon).toEqual([owner, other]);
  });
});

describe('a hub that is alone', () => {
  it('tells nothing of a cluster', { tags: ['P-576'] }, async () => {
    await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
    expect(await (await hub.request('/api/v1/hub', { token: hub.ownerToken })).json()).not.toHaveProperty('cluster');
    expect((await hub.run('status')).stdout).not.toMatch(/cluster/i);
  });
});

describe.skipIf(natsProgram === undefined)(`a hub that was not let in${whyNoNats}`, () => {
  it('says so, and why', { tags: ['deep', 'P-578'] }, async () => {
    await using nats = await Nats.start({ config: { authorization: { user: 'hub', password: 'password' } } });
    await nats.nodes[0]?.kill();
    await using hub = await ServedHub.start({ notebridge: { cluster: { url: nats.url } }, args: ['--notebook', 'none'] });
    const see = async (): Promise<Cluster> => {
      const answer = await (await hub.request('/api/v1/hub', { token: hub.ownerToken })).json();
      return (answer as { cluster: Cluster }).cluster;
    };
    expect(await see()).toMatchObject({
      state: 'joining',
      text: expect.stringContaining('has not reached NATS yet'),
      grants_refused: true,
    });
    await nats.nodes[0]?.start();
    await expect.poll(see, soon).toMatchObject({
      state: 'refused',
      text: expect.stringMatching(
        /does not join its cluster until it is started again: NATS does not let this hub in: .*Grants are refused/,
      ),
    });
  });
});
