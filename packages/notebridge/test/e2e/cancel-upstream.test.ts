// @module-tag deep

import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Program } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] } };

/** Calls `wait` with a key, and gives the way to have it cancelled. */
type Way = (hub: ServedHub, key: string) => Promise<Running>;

interface Running {
  cancel(): void | Promise<void>;
  close(): Promise<void>;
}

const nothingToClose = async (): Promise<void> => {};

/** Code that hangs up. */
const overHttp =
  (accept: string): Way =>
  async (hub, key) => {
    const leaving = new AbortController();
    void fetch(new URL('/api/v1/mcp/proxy/calls/tools/wait', hub.url), {
      method: 'POST',
      headers: { accept, authorization: `Bearer ${hub.ownerToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: { key } }),
      signal: leaving.signal,
    }).catch(() => {});
    return { cancel: () => leaving.abort(), close: nothingToClose };
  };

/** An agent at `/mcp`: the official client says so, or hangs up, as its era has it. */
const overMcp =
  (mode: 'legacy' | 'modern'): Way =>
  async (hub, key) => {
    const versionNegotiation = { mode: mode === 'modern' ? { pin: '2026-07-28' } : mode } as const;
    const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation });
    const requestInit = { headers: { authorization: `Bearer ${hub.ownerToken}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', hub.url), { requestInit }));
    const stopping = new AbortController();
    void client.callTool({ name: 'calls__wait', arguments: { key } }, { signal: stopping.signal }).catch(() => {});
    return { cancel: () => stopping.abort(), close: () => client.close() };
  };

/** An agent on stdio, by hand. Its server is one of its own. */
const overStdio: Way = async (hub, key) => {
  const program = await Program.open({ args: ['--config', hub.configFile], env: hub.env });
  void program.request('tools/call', { name: 'calls__wait', arguments: { key } }, `call ${key}`).catch(() => {});
  return {
    cancel: () => program.notify('notifications/cancelled', { requestId: `call ${key}` }),
    close: async () => void (await program.close()),
  };
};

const ways: [string, Way][] = [
  ['closing the connection', overHttp('application/json')],
  ['closing a stream', overHttp('application/x-ndjson')],
  ['an agent at /mcp, legacy', overMcp('legacy')],
  ['an agent at /mcp, modern', overMcp('modern')],
  ['an agent on stdio', overStdio],
];

describe('a server hears under the right id that a call was cancelled', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it.each(ways)('the call is cancelled under the right id by %s', { tags: ['P-065'] }, async (name, call) => {
    const file = join(hub.home, 'count');
    const [stays, goes] = [await call(hub, `${name} stays`), await call(hub, `${name} goes`)];
    const has = (line: string): boolean => linesOf(file).includes(line);
    await vi.waitUntil(() => has(`wait ${name} stays`) && has(`wait ${name} goes`), { timeout: 45_000 });
    await goes.cancel();
    await vi.waitUntil(() => has(`cancelled ${name} goes`), { timeout: 45_000 });
    expect(linesOf(file).filter((line) => line.startsWith('cancelled'))).not.toContain(`cancelled ${name} stays`);
    expect(linesOf(file)).not.toContain('cancelled undefined');
    await stays.cancel();
    await vi.waitUntil(() => has(`cancelled ${name} stays`), { timeout: 45_000 });
    await Promise.all([stays.close(), goes.close()]);
  });
});

describe('a server that is killed while 100 callers wait for it over HTTP', () => {
  it('fails each of them, is back, and has run none twice', async () => {
    await using hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
    const file = join(hub.home, 'count');
    expect((await hub.call('calls', 'echo', {}, hub.ownerToken)).status).toBe(200);
    const keys = Array.from({ length: 100 }, (_, n) => `key ${n}`);
    const answers = keys.map((key) => hub.call('calls', 'wait', { key }, hub.ownerToken));
    await vi.waitUntil(() => linesOf(file).length === 100, { timeout: 45_000 });
    const response = await hub.request('/api/v1/hub/servers', { token: hub.ownerToken });
    const { servers: list } = (await response.json()) as { servers: [{ pid: number }] };
    process.kill(list[0].pid, 'SIGKILL');
    for (const { status, answer } of await Promise.all(answers)) {
      expect(status).toBe(200);
      expect(answer).toMatchObject({ success: false, is_error: false, error_code: 'upstream_unavailable' });
    }
    const after: JsonObject = (await hub.call('calls', 'echo', { a: 1 }, hub.ownerToken)).answer;
    expect(after).toMatchObject({ success: true, result: { a: 1 } });
    expect(linesOf(file).sort()).toEqual(keys.map((key) => `wait ${key}`).sort());
  });
});

describe('a server with 10,000 tools', () => {
  it('shows all of them to code and to agents, and has them called', { tags: ['P-144'] }, async () => {
    const many = { command: process.execPath, args: [fixtureServer('many-tools.mjs')] };
    await using hub = await ServedHub.start({ servers: { many }, args: ['--notebook', 'none'] });
    const response = await hub.request('/api/v1/mcp/proxy/servers', { token: hub.ownerToken });
    const { servers: list } = (await response.json()) as { servers: [{ tools: { name: string }[] }] };
    expect(list[0].tools.map(({ name }) => name)).toEqual(Array.from({ length: 10_000 }, (_, n) => `tool_${n}`));
    const client = new Client({ name: 'agent', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${hub.ownerToken}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', hub.url), { requestInit }));
    const { tools } = await client.listTools();
    expect(new Set(tools.map(({ name }) => name)).size).toBe(10_000);
    expect(await client.callTool({ name: 'many__tool_5000', arguments: {} })).toMatchObject({ content: [{ text: 'tool_5000' }] });
    await client.close();
  });
});
