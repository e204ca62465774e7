// @module-tag deep
// @module-tag P-558

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLegacyAgent, openModernAgent } from '../support/http-agent.js';
import { HubCluster } from '../support/hub-cluster.js';
import { initialize } from '../support/mcp-http.js';
import { natsProgram, whyNoNats } from '../support/nats.js';

const callsServer = fileURLToPath(new URL('../fixtures/servers/calls.mjs', import.meta.url));

describe.skipIf(natsProgram === undefined)(`three hubs${whyNoNats}`, () => {
  let cluster: HubCluster;
  let folder: string;
  let countFile: string;
  const noted = (): string[] => readFileSync(countFile, 'utf8').split('\n').slice(0, -1);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    countFile = join(folder, 'count');
    writeFileSync(countFile, '');
    const server = (name: string, more: JsonObject): JsonObject => ({
      command: process.execPath,
      args: [callsServer, countFile],
      env: { HUB: name },
      ...more,
    });
    cluster = await HubCluster.start({
      notebridge: { telemetry: { metrics: true } },
      servers: (name) => ({
        one: server(name, { placement: 'one' }),
        each: server(name, {}),
      }),
    });
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const hubOf = async (name: string, server: string): Promise<string> => {
    const hub = cluster.hub(name);
    const { answer } = await hub.call(server, 'env', {}, hub.ownerToken);
    return String((answer.result as { HUB?: string } | null)?.HUB ?? JSON.stringify(answer));
  };

  it('have one server of those placed so, whichever hub is asked', async () => {
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => hubOf(name, 'one')));
    expect(new Set(answers).size, answers.join(' ')).toBe(1);
    expect(['a', 'b', 'c']).toContain(answers[0]);
    expect(await Promise.all(['a', 'b', 'c'].map((name) => hubOf(name, 'each')))).toEqual(['a', 'b', 'c']);
  });

  it('carry calls, progress and large results from hub to hub, each call once', async () => {
    const agents = await Promise.all(
      ['a', 'b', 'c'].map((name) => openLegacyAgent(cluster.hub(name), () => cluster.hub(name).ownerToken, name)),
    );
    const wanted = Array.from({ length: 300 }, (_, index) => String(index));
    const answers = await Promise.all(
      wanted.map(async (n, index) => (await agents[index % 3]?.('tools/call', { name: 'one__count', arguments: { n } }))?.result),
    );
    expect(answers.map((result) => (result?.content as JsonObject[] | undefined)?.[0]?.text)).toEqual(wanted);
    expect(
      noted()
        .filter((line) => line.startsWith('count'))
        .sort(),
    ).toEqual(wanted.map((n) => `count ${n}`).sort());
    for (const agent of agents) {
      const { result } = await agent('tools/call', { name: 'one__big', arguments: { bytes: 10_000_000 } });
      expect((result?.content as { text: string }[] | undefined)?.[0]?.text.length).toBe(10_000_000);
    }
  });

  it('are counted', async () => {
    const hub = cluster.hub('b');
    const text = await (await hub.request('/metrics', { token: hub.ownerToken })).text();
    expect(text).toContain('notebridge_cluster_hubs 3\n');
    expect(text).toContain('notebridge_cluster_joined 1\n');
    expect(text).toMatch(/notebridge_cluster_packets_dropped_total\{reason="signature"\} 0\n/);
  });

  it('list the same tools, in both eras', async () => {
    const lists = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const hub = cluster.hub(name);
        const legacy = await (await openLegacyAgent(hub, () => hub.ownerToken))('tools/list');
        const modern = await openModernAgent(hub, () => hub.ownerToken)('tools/list');
        expect(modern.result?.tools).toEqual(legacy.result?.tools);
        return legacy.result?.tools;
      }),
    );
    expect(lists[1]).toEqual(lists[0]);
    expect(lists[2]).toEqual(lists[0]);
    expect(JSON.stringify(lists[0])).toContain('one__count');
  });

  it('take a server over when its hub is killed, and say of calls that ran there that their outcome is unknown', async () => {
    const owner = await hubOf('a', 'one');
    const [caller = ''] = ['a', 'b', 'c'].filter((name) => name !== owner);
    const hub = cluster.hub(caller);
    const running = hub.call('one', 'wait', { key: 'k' }, hub.ownerToken);
    await expect.poll(() => noted()).toContain('wait k');
    await cluster.kill(owner);
    const { answer } = await running;
    expect(JSON.stringify(answer)).toContain('hub_gone');
    await expect.poll(() => hubOf(caller, 'one')).not.toBe(owner);
    expect(noted().filter((line) => line === 'wait k')).toHaveLength(1);
  });

  it('let the calls of agents end that they relay to the hub of their session, when they are drained', { tags: ['P-524'] }, async () => {
    const [home, relaying] = [...cluster.hubs.values()];
    if (home === undefined || relaying === undefined) throw new Error('Two hubs are left.');
    const { ownerToken: token } = home;
    const accept = 'application/json, text/event-stream';
    const opened = await home.request('/mcp', { token, body: initialize(1, '2025-11-25', {}, 'agent'), headers: { accept } });
    await opened.text();
    const headers = { accept, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
    const params = { name: 'each__wait', arguments: { key: 'relayed' } };
    const body = { jsonrpc: '2.0', id: 2, method: 'tools/call', params };
    const answered = relaying.request('/mcp', { token: relaying.ownerToken, body, headers });
    answered.catch(() => {});
    await expect.poll(() => noted()).toContain('wait relayed');
    const ended = relaying.stop();
    await expect.poll(async () => (await relaying.request('/readyz')).status).toBe(503);
    await home.call('each', 'release', { key: 'relayed' }, token);
    const answer = await answered;
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('released relayed')]);
    expect(await ended).toBe(0);
  });
});
