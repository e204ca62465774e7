// @module-tag P-556

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HubCluster } from '../support/hub-cluster.js';
import { initialize } from '../support/mcp-http.js';
import { natsProgram, whyNoNats } from '../support/nats.js';
import type { ServedHub } from '../support/served-hub.js';

const callsServer = fileURLToPath(new URL('../fixtures/servers/calls.mjs', import.meta.url));
const accept = 'application/json, text/event-stream';

describe.skipIf(natsProgram === undefined)(`sessions at hubs that share the work, attacked${whyNoNats}`, () => {
  let cluster: HubCluster;
  let folder: string;
  let countFile: string;
  const noted = (): string[] => readFileSync(countFile, 'utf8').split('\n').slice(0, -1);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    countFile = join(folder, 'count');
    writeFileSync(countFile, '');
    cluster = await HubCluster.start({
      cluster: { drainMs: 2000 },
      servers: () => ({ calls: { command: process.execPath, args: [callsServer, countFile] } }),
    });
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (hub: ServedHub, token: string): Promise<string> => {
    const opened = await hub.request('/mcp', { token, body: initialize(1, '2025-11-25', {}, 'agent'), headers: { accept } });
    await opened.text();
    return opened.headers.get('mcp-session-id') ?? '';
  };
  const post = async (hub: ServedHub, { token, session, n }: { token: string; session: string; n: string }) => {
    const params: JsonObject = { name: 'calls__count', arguments: { n } };
    const headers = { accept, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    const response = await hub.request('/mcp', { token, headers, body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params } });
    return { status: response.status, text: await response.text() };
  };

  it('are nobody else’s at any hub, whatever ends their id', async () => {
    const [a, b] = [cluster.hub('a'), cluster.hub('b')];
    const [one, two] = [await a.grant('--door', 'agent', '--allow', 'calls:*'), await a.grant('--door', 'agent', '--allow', 'calls:*')];
    const session = await open(a, one.token);
    expect((await post(b, { token: one.token, session, n: 'own' })).status).toBe(200);
    const [secret, mark] = [session.slice(0, session.lastIndexOf('.')), session.slice(session.lastIndexOf('.') + 1)];
    const marks = [mark, '', 'Yg', 'Yw', '!!', '__proto__', 'YQ==', 'YQ.YQ', `${'x'.repeat(6000)}`];
    for (const hub of [a, b])
      for (const each of marks) {
        const { status, text } = await post(hub, { token: two.token, session: `${secret}.${each}`, n: 'other' });
        expect([400, 404], text).toContain(status);
      }
    expect((await post(b, { token: two.token, session, n: 'other' })).status).toBe(404);
    expect((await b.request('/mcp', { method: 'DELETE', token: two.token, headers: { accept, 'mcp-session-id': session } })).status).toBe(
      404,
    );
    expect((await post(b, { token: one.token, session, n: 'own again' })).status).toBe(200);
    await a.run('grant', 'revoke', one.id);
    await expect.poll(async () => (await post(b, { token: one.token, session, n: 'revoked' })).status).toBe(401);
    expect(noted()).not.toContain('count other');
  });

  it('sessions that were handed over are reached through every hub', async () => {
    const [a, b, c] = [cluster.hub('a'), cluster.hub('b'), cluster.hub('c')];
    const { token } = await b.grant('--door', 'agent', '--allow', 'calls:*');
    const session = await open(a, token);
    expect(await a.stop()).toBe(0);
    const stranger = await b.grant('--door', 'agent', '--allow', 'calls:*');
    expect((await post(c, { token: stranger.token, session, n: 'stolen' })).status).toBe(404);
    for (const [at, hub] of [b, c, b, c].entries())
      expect([at, (await post(hub, { token, session, n: `after ${at}` })).status]).toEqual([at, 200]);
    // Its first hub comes back under its name, and is asked first by what the id ends with.
    await cluster.add('a');
    await Promise.all([cluster.seen('b', ['a', 'c']), cluster.seen('c', ['a', 'b'])]);
    for (const [at, name] of ['a', 'b', 'c'].entries())
      expect([name, (await post(cluster.hub(name), { token, session, n: `after ${at + 4}` })).status]).toEqual([name, 200]);
    // And who has it is drained, too.
    expect(await b.stop()).toBe(0);
    for (const [at, name] of ['a', 'c'].entries())
      expect([name, (await post(cluster.hub(name), { token, session, n: `after ${at + 7}` })).status]).toEqual([name, 200]);
    expect(noted().filter((line) => line.startsWith('count after'))).toHaveLength(9);
    expect(noted()).not.toContain('count stolen');
  });

  it('are reached at the one of two hubs with one name that has them', async () => {
    const [c, other] = [cluster.hub('c'), await cluster.add('c')];
    const { token } = await c.grant('--door', 'agent', '--allow', 'calls:*');
    await expect.poll(async () => (await post(other, { token, session: 'none', n: '' })).status).toBe(404);
    const sessions = [await open(c, token), await open(other, token)];
    for (const session of sessions)
      for (const hub of [c, other, cluster.hub('a')])
        await expect.poll(async () => (await post(hub, { token, session, n: 'same name' })).status).toBe(200);
  });
});
