import { BridgeError } from '@notebridge/protocol/core/errors';
import { MemoryToolServer } from '@notebridge/protocol/core/memory-tool-server';
import type { ToolServer } from '@notebridge/protocol/core/tool-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LiveGrants } from '../../src/grants/live-grants.js';
import { jsonHeaders, jsonOf, type OpenToolProxy, openToolProxy } from '../support/tool-proxy.js';

/** Grants that have ended. */
let ended: Set<string>;
let live: LiveGrants;
let open: OpenToolProxy;
/** Resolves when the server that hangs was asked for its tools. */
let asked: Promise<void>;
beforeEach(async () => {
  ended = new Set();
  live = new LiveGrants((id) => (ended.has(id) ? new BridgeError('bad_grant', `The grant ${id} was revoked.`) : undefined));
  let tell = (): void => {};
  asked = new Promise((resolve) => {
    tell = resolve;
  });
  open = await openToolProxy({ more: [hanging(() => tell())], whileLive: live.whileLive, limits: { storedAnswers: 1 } });
});
afterEach(async () => {
  await open.close();
  live.close();
});

/** A server that starts for ever. */
function hanging(onAsked: () => void): ToolServer {
  const state = { status: 'starting', since: Date.now(), restarts: 0, inFlight: 0 };
  const listTools = (): Promise<never> => {
    onAsked();
    return new Promise(() => {});
  };
  return Object.defineProperties(new MemoryToolServer({ name: 'hangs', tools: [] }), {
    ...{ knownTools: { value: undefined }, listTools: { value: listTools } },
    ...{ state: { value: state }, status: { value: state.status } },
  });
}

function search(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify({ arguments: body });
  return fetch(`${open.url}/search`, { method: 'POST', body: text, headers: { ...jsonHeaders, ...headers } });
}

describe('a search that waits for a server', () => {
  it('is one of sixteen of its caller, and one more is to come again', { tags: ['P-738'] }, async () => {
    const all = Array.from({ length: 17 }, () => search({ query: 'hello' }));
    const others = search({ query: 'hello' }, { authorization: 'Bearer other' });
    const refused = await Promise.race(all);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await jsonOf(refused)).toMatchObject({ error_code: 'limit_reached' });
    ended.add('good').add('other');
    const statuses = (await Promise.all([...all, others])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array.from({ length: 17 }, () => 401), 503]);
  });

  it.each<[what: string, send: () => Promise<Response>]>([
    ['a search', () => search({ query: 'hello' })],
    ['a search that streams', () => search({ query: 'hello' }, { accept: 'application/x-ndjson' })],
    ['the list of servers', () => open.get('/api/v1/mcp/proxy/servers')],
    ['bindings for Python', () => open.get('/api/v1/mcp/proxy/bindings/python.tar.gz')],
    ['bindings for TypeScript', () => open.get('/api/v1/mcp/proxy/bindings/typescript.tar.gz')],
  ])('ends within a second of its grant: %s', { tags: ['P-644'] }, async (_, send) => {
    const sent = send();
    await asked;
    ended.add('good');
    const at = performance.now();
    const response = await sent;
    expect(performance.now() - at).toBeLessThan(1000);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('invalid_token')]);
    expect(await response.text()).toContain('The grant good was revoked.');
  });
});

describe('a search', () => {
  // The server that hangs would be waited for.
  beforeEach(() => void open.servers.remove('hangs'));

  it('takes no Idempotency-Key, and pushes out no answer that is kept', { tags: ['P-077'] }, async () => {
    const call = () => open.call('count', {}, { headers: { 'idempotency-key': 'k' } });
    await call();
    for (const key of ['k', 'k2', 'not a key']) {
      const found = await search({ query: `hello ${key}` }, { 'idempotency-key': key });
      expect([found.status, found.headers.get('idempotency-replayed')]).toEqual([200, null]);
    }
    expect((await call()).headers.get('idempotency-replayed')).toBe('true');
    expect(open.test.counted()).toBe(1);
  });

  it('has a small body', { tags: ['P-731'] }, async () => {
    const bodyOf = (size: number): string => `{"arguments":{"query":"hello"},"more":"${'x'.repeat(size)}"}`;
    const large = await search(bodyOf(64 * 1024));
    expect([large.status, await large.json()]).toEqual([413, { detail: 'The body is larger than 65536 bytes.' }]);
    expect((await search(bodyOf(60_000))).status).toBe(200);
    expect((await open.call('hello', {}, { body: bodyOf(64 * 1024) })).status).toBe(200);
  });
});
