// @module-tag deep
// @module-tag P-361

import { McpServer, type ServerOptions } from '@modelcontextprotocol/server';
import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it, onTestFinished } from 'vitest';
import { modernVersion, withEnvelope } from '../support/agents.js';
import { HttpUpstream } from '../support/http-upstream.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

type Hints = NonNullable<ServerOptions['cacheHints']>;
type Hint = { ttlMs: number; cacheScope: 'public' | 'private' };

/** A server by the official SDK, of the modern era, that says this of its lists and of what it reads. */
async function openCached(name: string, hint: Hint): Promise<JsonObject> {
  const hints: Hints = { 'tools/list': hint, 'resources/list': hint, 'prompts/list': hint, 'resources/read': hint };
  const upstream = await HttpUpstream.serve('modern', () => {
    const server = new McpServer({ name, version: '1' }, { cacheHints: hints });
    server.registerTool('echo', {}, async () => ({ content: [] }));
    server.registerResource('note', `note://${name}`, {}, async ({ href }) => ({ contents: [{ uri: href, text: name }] }));
    server.registerPrompt('ask', {}, async () => ({ messages: [] }));
    return server;
  });
  onTestFinished(() => upstream.stop());
  return { url: upstream.url };
}

async function start(servers: ServersForTest): Promise<ServedHub> {
  const hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
  onTestFinished(() => hub[Symbol.asyncDispose]());
  return hub;
}

async function hintsOf(hub: ServedHub, method: string, { token = hub.ownerToken, params = {} as JsonObject } = {}): Promise<unknown[]> {
  const response = await fetch(new URL('/mcp', hub.url), {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': modernVersion,
      'mcp-method': method,
      ...(params.uri === undefined ? {} : { 'mcp-name': String(params.uri) }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: withEnvelope(params) }),
  });
  const { result } = (await response.json()) as { result: JsonObject };
  return [result.ttlMs, result.cacheScope];
}

const lists = ['tools/list', 'resources/list', 'prompts/list'];
const minute = 60_000;

it('the least time and the narrowest scope of several servers hold for their lists together', async () => {
  const [one, two] = [
    await openCached('one', { ttlMs: 90 * minute, cacheScope: 'public' }),
    await openCached('two', { ttlMs: 60 * minute, cacheScope: 'private' }),
  ];
  const hub = await start({ one, two });
  for (const method of lists) {
    const [ttlMs, scope] = await hintsOf(hub, method);
    // A list that we have read a moment ago holds a moment less.
    expect(ttlMs, method).toBeGreaterThan(50 * minute);
    expect(ttlMs, method).toBeLessThanOrEqual(60 * minute);
    expect(scope, method).toBe('private');
  }
  // What one server alone answers is as it says.
  expect(await hintsOf(hub, 'resources/read', { params: { uri: 'note://one' } })).toEqual([90 * minute, 'public']);
  expect(await hintsOf(hub, 'resources/read', { params: { uri: 'note://two' } })).toEqual([60 * minute, 'private']);
});

it('a list that is public is private for a grant, which is shown a part of it', async () => {
  const hub = await start({ one: await openCached('one', { ttlMs: 90 * minute, cacheScope: 'public' }) });
  const { token } = await hub.grant('--agent', '--allow', 'one:*');
  const { token: narrow } = await hub.grant('--agent', '--allow', 'one:other');
  for (const method of lists) {
    expect((await hintsOf(hub, method))[1], method).toBe('public');
    expect((await hintsOf(hub, method, { token }))[1], method).toBe('private');
    expect((await hintsOf(hub, method, { token: narrow }))[1], method).toBe('private');
  }
  const params = { uri: 'note://one' };
  expect(await hintsOf(hub, 'resources/read', { token, params })).toEqual([90 * minute, 'private']);
});

it('a list holds for no time if one of its servers says nothing of that, or did not answer', async () => {
  const one = await openCached('one', { ttlMs: 90 * minute, cacheScope: 'public' });
  const silent = { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] };
  expect(await hintsOf(await start({ one, silent }), 'tools/list')).toEqual([0, 'private']);
  const gone = { url: 'http://127.0.0.1:9/mcp' };
  const hub = await start({ one, gone });
  for (const method of lists) expect(await hintsOf(hub, method), method).toEqual([0, 'private']);
  const asleep = await start({ one, lazy: { ...silent, lazy: true } });
  expect(await hintsOf(asleep, 'prompts/list')).toEqual([0, 'private']);
});
