// @module-tag P-563

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/kit/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openModernAgent } from '../support/http-agent.js';
import { HubCluster } from '../support/hub-cluster.js';
import { natsProgram, whyNoNats } from '../support/nats.js';

const callsServer = fileURLToPath(new URL('../fixtures/servers/calls.mjs', import.meta.url));

describe.skipIf(natsProgram === undefined)(`servers that any hub may run${whyNoNats}`, () => {
  let cluster: HubCluster;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'placement-'));
    const countFile = join(folder, 'count');
    writeFileSync(countFile, '');
    const server = (name: string, more: JsonObject): JsonObject => ({
      command: process.execPath,
      args: [callsServer, countFile],
      env: { HUB: name },
      placement: 'any',
      ...more,
    });
    cluster = await HubCluster.start({
      cluster: { drainMs: 500 },
      servers: (name) => ({ any: server(name, {}), own: server(name, { instances: 'per-agent' }) }),
    });
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const hubOf = async (at: string, tool: string, agentName = 'test'): Promise<string> => {
    const hub = cluster.hub(at);
    const agent = openModernAgent(hub, () => hub.ownerToken);
    const _meta = { 'io.modelcontextprotocol/clientInfo': { name: agentName, version: '1' } };
    const { result } = await agent('tools/call', { name: tool, arguments: {}, _meta });
    return String((result?.structuredContent as { HUB?: string } | undefined)?.HUB);
  };

  it('keep one agent at one hub where each has an instance of its own, and spread the agents', async () => {
    const homes = new Map<string, Set<string>>();
    for (let n = 0; n < 12; n++) {
      const seen = new Set<string>();
      for (const at of ['a', 'b', 'c']) seen.add(await hubOf(at, 'own__env', `agent ${n}`));
      homes.set(`agent ${n}`, seen);
    }
    for (const [agent, seen] of homes) expect(seen.size, agent).toBe(1);
    expect(new Set([...homes.values()].flatMap((seen) => [...seen])).size).toBeGreaterThan(1);
  });

  it('are called where the call came in, until that hub has much more to do than another', async () => {
    expect(await hubOf('a', 'any__env')).toBe('a');
    const hub = cluster.hub('a');
    const waits = Array.from({ length: 30 }, (_, key) => hub.call('any', 'wait', { key }, hub.ownerToken));
    const seen = new Set<string>();
    await expect
      .poll(
        async () => {
          seen.add(await hubOf('a', 'any__env'));
          return [...seen].some((name) => name !== 'a');
        },
        { timeout: 45_000, interval: 100 },
      )
      .toBe(true);
    // They are ended with their hubs.
    void Promise.allSettled(waits);
  });
});
