// @module-tag deep

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openAtHub } from '../support/asked-agent.js';
import { hangsAfterMs } from '../support/hangs-after.js';
import { openModernAgent } from '../support/http-agent.js';
import { initialize } from '../support/mcp-http.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const form = { method: 'elicitation/create', params: { message: 'Name?', requestedSchema: { type: 'object', properties: {} } } };
const calls = { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] };
const args = ['--notebook', 'none'];

describe('a hub that drains', () => {
  const askingHub = async (): Promise<ServedHub> => {
    const asks = { command: process.execPath, args: [fixtureServer('asks-legacy.mjs')], questions: 'serial' };
    const hub = await ServedHub.start({ servers: { asks }, args });
    onTestFinished(() => hub[Symbol.asyncDispose]());
    return hub;
  };
  const drain = async (hub: ServedHub): Promise<void> => {
    hub.child.kill('SIGTERM');
    await hub.logged('may still end');
  };

  it('takes the answer of a legacy agent to what its call asks, and begins nothing new in that session', { tags: ['P-711'] }, async () => {
    const hub = await askingHub();
    const refused: unknown[] = [];
    const agent = await openAtHub(hub, {
      era: 'legacy',
      answer: async () => {
        await drain(hub);
        refused.push(await agent.call('asks__look').catch(({ message }: Error) => message));
        return { action: 'accept', content: { name: 'Ada' } };
      },
    });
    expect(await agent.call('asks__ask', { asks: [form] })).toContain('asked');
    expect(refused).toEqual([expect.stringContaining('This hub is ending')]);
    await agent.close();
    expect(await hub.ended).toBe(0);
  });

  it('waits for the answer of a modern agent to what its call asks', { tags: ['P-711'] }, async () => {
    const hub = await askingHub();
    const send = openModernAgent(hub, () => hub.ownerToken);
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
    const call = { name: 'asks__ask', arguments: { asks: [form] }, _meta };
    const asked = await send('tools/call', call);
    const { requestState, inputRequests } = asked.result ?? {};
    const inputResponses = { [Object.keys(inputRequests as JsonObject)[0] ?? '']: { action: 'accept', content: { name: 'Ada' } } };
    await drain(hub);
    expect((await send('tools/call', call)).status).toBe(503);
    expect((await send('tools/call', { ...call, requestState: 'made up', inputResponses })).status).toBe(503);
    const answered = await send('tools/call', { ...call, requestState, inputResponses });
    expect(JSON.stringify(answered.result)).toContain('Ada');
    expect(await hub.ended).toBe(0);
  });
});

describe('a hub that is started again at once', () => {
  it('goes on with the sessions of agents: of whom they are, and for nobody else', { tags: ['P-712'] }, async () => {
    const hub = await ServedHub.start({ servers: { calls }, args });
    onTestFinished(() => hub[Symbol.asyncDispose]());
    const { token } = await hub.grant('--allow', 'calls:*', '--door', 'agent');
    let changes = 0;
    const client = new Client({ name: 'agent', version: '1' });
    client.setNotificationHandler('notifications/tools/list_changed', () => void changes++);
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', hub.url), { requestInit });
    await client.connect(transport);
    const count = (n: number) => client.callTool({ name: 'calls__count', arguments: { n } });
    await count(1);
    const key = transport.sessionId ?? '';
    expect(await hub.stop()).toBe(0);

    const file = join(hub.stateDir, 'sessions.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const secret of [key, token]) expect(readFileSync(file, 'utf8')).not.toContain(secret);
    const again = await ServedHub.start({ servers: { calls }, args, port: hub.port }, hub);
    onTestFinished(() => again[Symbol.asyncDispose]());
    expect(existsSync(file)).toBe(false);
    const before = changes;
    const headers = { accept: 'application/json, text/event-stream', 'mcp-session-id': key };
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await again.request('/mcp', { token: again.ownerToken, body: list, headers })).status).toBe(404);
    expect(await count(2)).toMatchObject({ content: [{ text: '2' }] });
    expect(linesOf(join(hub.home, 'count')).filter((line) => line.startsWith('count'))).toEqual(['count 1', 'count 2']);
    expect(transport.sessionId).toBe(key);
    const { agents } = (await (await again.request('/api/v1/hub/agents', { token: again.ownerToken })).json()) as { agents: JsonObject[] };
    expect(JSON.stringify(agents)).toContain('"agent 1"');
    // Its stream is open again, and it asks anew for what may have changed meanwhile.
    await vi.waitUntil(() => changes > before, { timeout: hangsAfterMs });
    await client.close();
  });

  it('begins anew for an agent whose grant was revoked', { tags: ['P-712', 'deep'] }, async () => {
    const hub = await ServedHub.start({ args });
    onTestFinished(() => hub[Symbol.asyncDispose]());
    const { token, id } = await hub.grant('--allow', 'calls:*', '--door', 'agent');
    const headers = { accept: 'application/json, text/event-stream' };
    const opened = await hub.request('/mcp', { token, body: initialize(1, '2025-11-25', {}, 'agent'), headers });
    await opened.text();
    await hub.stop();
    const again = await ServedHub.start({ args, port: hub.port }, hub);
    onTestFinished(() => again[Symbol.asyncDispose]());
    await again.request(`/api/v1/hub/grants/${id}`, { token: again.ownerToken, method: 'DELETE' });
    const key = opened.headers.get('mcp-session-id') ?? '';
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await again.request('/mcp', { token, body: list, headers: { ...headers, 'mcp-session-id': key } })).status).toBe(401);
  });
});
