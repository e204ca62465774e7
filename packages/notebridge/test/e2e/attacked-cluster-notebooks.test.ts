import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLegacyAgent, type SendMessage } from '../support/http-agent.js';
import { HubCluster } from '../support/hub-cluster.js';
import { natsProgram, whyNoNats } from '../support/nats.js';
import { fixtureServer } from '../support/upstreams.js';

describe.skipIf(natsProgram === undefined)(`notebooks of other hubs, attacked${whyNoNats}`, () => {
  let cluster: HubCluster;

  beforeAll(async () => {
    const calls = { command: process.execPath, args: [fixtureServer('calls.mjs'), '/dev/null'] };
    cluster = await HubCluster.start({
      names: ['a', 'b'],
      servers: (name): Record<string, JsonObject> => (name === 'b' ? { calls } : {}),
      args: () => ['--notebook', 'local', '--no-browser'],
    });
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  /** An agent of the first hub that has connected the notebook of the second. */
  const agentWith = async (token: string, name: string): Promise<SendMessage> => {
    const agent = await openLegacyAgent(cluster.hub('a'), () => token, name);
    const { result } = await agent('tools/call', { name: 'connect_notebook', arguments: { notebook: 'nb1@b' } });
    expect(JSON.stringify(result)).toContain('connected');
    return agent;
  };
  const auditOf = (name: string): JsonObject[] => {
    const lines = readFileSync(join(cluster.hub(name).stateDir, 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    return lines.map((line) => JSON.parse(line) as JsonObject);
  };

  it('answer no agent what hubs say to one another, not even the owner’s, and stay connected', { tags: ['P-614'] }, async () => {
    const hub = cluster.hub('a');
    const { token } = await hub.grant('--agent', '--allow', '*:*');
    for (const [whose, code] of [
      [hub.ownerToken, -32601],
      [token, undefined],
    ] as const) {
      const agent = await agentWith(whose, 'Raw');
      for (const method of ['list_notebooks', 'join_notebook', 'notebook_events', 'leave_notebook', 'whatever']) {
        const { error } = await agent(`notebridge/${method}`, { notebook: './elsewhere.ipynb' });
        if (code === undefined) expect([method, (error?.data as JsonObject)?.code]).toEqual([method, 'denied']);
        else expect([method, error?.code, error?.message]).toEqual([method, code, `Nothing here answers "notebridge/${method}".`]);
      }
      const { result } = await agent('tools/call', { name: 'get_cells', arguments: {} });
      expect(JSON.stringify(result)).toContain('cells');
    }
  });

  it('run code of an agent’s grant with the rights of that grant alone', { tags: ['P-613'] }, async () => {
    const { token } = await cluster.hub('a').grant('--agent', '--allow', 'notebook:*');
    const agent = await agentWith(token, 'Narrow');
    const code = 'from generated.mcp.calls import echo\nawait echo(a=1)';
    const { result } = await agent('tools/call', { name: 'run_code', arguments: { code } });
    expect(JSON.stringify(result)).toContain('Denied: grant');
    const outcomes = () => auditOf('b').flatMap(({ tool, outcome }) => (tool === 'echo' ? [outcome] : []));
    await expect.poll(outcomes).toEqual(['denied']);
  });
});
