import { MemoryToolServer } from '@notebridge/protocol/core/memory-tool-server';
import type { ServerStatus } from '@notebridge/protocol/core/tool-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listProxyServers } from '../../src/doors/tool-proxy/list-proxy-servers.js';
import { proxyHealth } from '../../src/doors/tool-proxy/proxy-health.js';
import { proxyToolCall } from '../../src/doors/tool-proxy/proxy-tool-call.js';
import { jsonHeaders, jsonOf, type OpenToolProxy, openToolProxy } from '../support/tool-proxy.js';

let open: OpenToolProxy;
beforeEach(async () => {
  open = await openToolProxy({
    more: [new MemoryToolServer({ name: 'hidden', expose: 'none' })],
    mayList: (principal, { tool }) => principal.kind !== 'grant' || principal.grantId === 'good' || tool === 'hello',
    mayListWhole: (principal) => principal.kind !== 'grant',
    prove: (nonce) => `proof of ${nonce}`,
  });
});
afterEach(() => open.close());

describe('a call through the tool proxy', () => {
  it('is answered with all members of the reference, and those beside them', { tags: ['P-070'] }, async () => {
    const response = await open.call('hello', { name: 'you' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({
      success: true,
      result: 'Hello, you!',
      error: null,
      is_error: false,
      meta: null,
      error_code: null,
      call_id: expect.any(String),
      duration_ms: expect.any(Number),
    });
  });

  it('may use the short path of the reference’s diagram', async () => {
    const response = await fetch(`${open.url}/github/hello`, { method: 'POST', headers: jsonHeaders, body: '{"arguments":{}}' });
    expect(await jsonOf(response)).toMatchObject({ success: true, result: 'Hello, world!' });
  });

  it('brings numbers through to the letter, in both directions', { tags: ['P-072'] }, async () => {
    // The tool of the other side gets plain numbers, so this looks at what the server sends.
    open.servers.add({
      ...fixedServer('exact'),
      request: async (_method, params) => ({ content: [], structuredContent: { got: params.arguments } }),
    });
    const body = '{"arguments":{"big":12345678901234567890,"float":1.0,"huge":1e400}}';
    const response = await fetch(`${open.url}/exact/tools/any`, { method: 'POST', headers: jsonHeaders, body });
    expect(await response.text()).toContain('"result":{"got":{"big":12345678901234567890,"float":1.0,"huge":1e400}}');
  });

  it('a call whose tool failed is status 200, with the text as error and result', { tags: ['P-073'] }, async () => {
    const response = await open.call('fail');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      success: false,
      is_error: true,
      error: 'It failed.',
      result: 'It failed.',
      error_code: null,
    });
  });

  it.each([
    ['timeout', 'timeout'],
    ['upstream_unavailable', 'upstream_unavailable'],
    ['cancelled', 'cancelled'],
    ['denied', 'denied'],
    ['budget_exhausted', 'budget_exhausted'],
    ['bad_params', 'invalid_arguments'],
    ['unknown_tool', 'tool_not_found'],
    ['result_too_large', 'result_too_large'],
    ['limit_reached', 'limit_reached'],
  ])('a call that ends with %s is status 200 with error_code %s', { tags: ['P-073'] }, async (code, errorCode) => {
    const response = await open.call('bridge_error', { code });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      success: false,
      is_error: false,
      result: null,
      error: `A ${code} happened.`,
      error_code: errorCode,
    });
  });

  it.each([
    [-32602, false, 'invalid_arguments'],
    [-32601, false, 'tool_not_found'],
    [-32050, true, null],
  ])('a call that the server answers with protocol error %i has is_error %s and error_code %s', async (code, isError, errorCode) => {
    expect(await jsonOf(open.call('remote_error', { code }))).toMatchObject({
      success: false,
      is_error: isError,
      error: 'The server said no.',
      error_code: errorCode,
    });
  });

  it('a call that the server answers with a protocol error brings its data, if it has some', { tags: ['P-677'] }, async () => {
    const data = { field: 'path', allowed: [1, null] };
    expect(await jsonOf(open.call('remote_error', { code: -32602, data }))).toMatchObject({ error_data: data });
    expect(await jsonOf(open.call('remote_error', { code: -32050 }))).not.toHaveProperty('error_data');
  });

  it('a call that a grant has no rate for is told when to come back', { tags: ['P-073'] }, async () => {
    const response = await open.call('bridge_error', { code: 'budget_exhausted', data: { retry_after_s: 2.5 } });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('3');
    expect(await response.json()).toMatchObject({ detail: 'A budget_exhausted happened.', error_code: 'budget_exhausted' });
  });

  it('a call that breaks something shows only an id, under which the log has the rest', { tags: ['P-074'] }, async () => {
    const response = await open.call('break');
    const answer = await jsonOf(response);
    expect(response.status).toBe(500);
    expect(answer).toEqual({ detail: 'Internal error', call_id: expect.any(String) });
    expect(open.log).toContainEqual({
      level: 'error',
      message: expect.any(String),
      fields: { call_id: answer.call_id, error: expect.stringContaining('inner secret') },
    });
  });

  it('may be larger than the limit in its answer, and is then told so', async () => {
    await using small = await openToolProxy({ limits: { maxResultBytes: 1000 } });
    const answer = await jsonOf(small.call('arguments', { text: 'x'.repeat(1000) }));
    expect(answer).toMatchObject({ success: false, is_error: false, result: null, error_code: 'result_too_large' });
    expect(await jsonOf(small.call('arguments', { text: 'x' }))).toMatchObject({ success: true, result: { text: 'x' } });
  });

  it('a call of an unknown server names the servers there are', { tags: ['P-073'] }, async () => {
    const response = await fetch(`${open.url}/nope/tools/x`, { method: 'POST', headers: jsonHeaders, body: '{"arguments":{}}' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ detail: "MCP server 'nope' is not running. Available servers: ['github']" });
  });

  it('a call of the skills is refused in the words of the reference while nobody serves them', async () => {
    const response = await fetch(`${open.url}/skills/tools/list_skills`, {
      method: 'POST',
      headers: jsonHeaders,
      body: '{"arguments":{}}',
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      detail: 'Skills proxy caller not registered — skills are not enabled for this agent.',
    });
  });

  it.each(['__proto__', 'constructor', '%2F', '%2e%2e', '..', 'caf%C3%A9', 'a__b', '%2525', 'x'.repeat(500), '%00', 'tools'])(
    'a call of a tool named %s is answered as unknown, and so is a server of that name',
    async (name) => {
      expect(await jsonOf(rawPost(`/github/tools/${name}`))).toMatchObject({
        success: false,
        is_error: false,
        error_code: 'tool_not_found',
      });
      expect((await rawPost(`/${name}/tools/hello`)).status).toBe(404);
    },
  );

  it('has its names decoded once', { tags: ['P-158'] }, async () => {
    open.servers.add(
      new MemoryToolServer({ name: 'a/b %2F', tools: [{ name: 'c/d', inputSchema: {}, run: async () => ({ content: [] }) }] }),
    );
    expect(await jsonOf(rawPost('/a%2Fb%20%252F/tools/c%2Fd'))).toMatchObject({ success: true, result: [] });
  });
});

describe('the list of servers', () => {
  it('shows the tools with their schemas', async () => {
    const { servers, total } = (await jsonOf(open.get('/api/v1/mcp/proxy/servers'))) as { servers: { tools: unknown[] }[]; total: number };
    expect(total).toBe(1);
    expect(servers).toEqual([{ id: 'github', name: 'github', is_config: false, is_running: true, tools: expect.any(Array) }]);
    expect(servers[0]?.tools[0]).toEqual({
      name: 'hello',
      description: 'Greets.',
      input_schema: { type: 'object' },
      output_schema: { type: 'object' },
      annotations: { readOnlyHint: true },
    });
  });

  it('is not sent again to who has it, until it changes', async () => {
    const path = '/api/v1/mcp/proxy/servers';
    const first = await open.get(path);
    const tag = first.headers.get('etag') ?? '';
    const again = await open.get(path, { 'if-none-match': `"x", W/${tag}` });
    expect([again.status, await again.text()]).toEqual([304, '']);
    open.servers.add(new MemoryToolServer({ name: 'another' }));
    expect((await open.get(path, { 'if-none-match': tag })).status).toBe(304);
    open.servers.add(new MemoryToolServer({ name: 'third', tools: [...open.test.tools] }));
    expect((await open.get(path, { 'if-none-match': tag })).status).toBe(200);
  });

  it('leaves out what the grant may not call', async () => {
    const { servers } = (await jsonOf(open.get('/api/v1/mcp/proxy/servers', { authorization: 'Bearer other' }))) as {
      servers: { tools: { name: string }[] }[];
    };
    expect(servers.map(({ tools }) => tools.map(({ name }) => name))).toEqual([['hello']]);
  });
});

describe('health', () => {
  it.each(['/api/v1/mcp/proxy/health', '/healthz'])('the health at %s needs no token', async (path) => {
    const response = await fetch(`${open.origin}${path}`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('proves which hub it is', async () => {
    const response = await fetch(`${open.origin}/healthz?challenge=0123456789abcdef`);
    expect(await response.json()).toEqual({ status: 'ok', proof: 'proof of 0123456789abcdef' });
  });

  it.each(['short', 'x'.repeat(257), '0123456789abcde!', '0123456789abcdef&challenge=0123456789abcdef'])(
    'takes no challenge like %s',
    async (challenge) => {
      expect((await fetch(`${open.origin}/healthz?challenge=${challenge}`)).status).toBe(400);
    },
  );

  it('tells operators of each server, and others only the whole', { tags: ['P-079'] }, async () => {
    const servers = [
      { name: 'github', status: 'running', since: expect.any(Number), restarts: 0, in_flight: 0, reason: null },
      expect.anything(),
    ];
    expect(await jsonOf(open.get('/readyz', { authorization: 'Bearer owner' }))).toEqual({ status: 'ok', servers });
    expect(await jsonOf(open.get('/readyz'))).toEqual({ status: 'ok' });
    expect(await jsonOf(fetch(`${open.origin}/readyz`))).toEqual({ status: 'ok' });
    expect((await open.get('/readyz', { authorization: 'Bearer wrong' })).status).toBe(401);
  });

  it('is asked for without a token by whoever probes, which is no refusal', { tags: ['P-547'] }, async () => {
    const refused: string[] = [];
    await using probed = await openToolProxy({ http: { onRefused: ({ reason }) => refused.push(reason) } });
    for (const path of ['/readyz', '/healthz']) expect((await fetch(`${probed.origin}${path}`)).status).toBe(200);
    expect(refused).toEqual([]);
    await probed.get('/readyz', { authorization: 'Bearer wrong' });
    await fetch(`${probed.url}/servers`);
    expect(refused).toEqual(['unknown', 'missing']);
  });

  it('says no while servers start with the hub, for some time, and never again because of a server', { tags: ['P-687'] }, async () => {
    let nowMs = 0;
    await using booting = await openToolProxy({ clock: () => nowMs, limits: { serversReadyMs: 5000 } });
    const add = (name: string, status: ServerStatus, more: object = {}) =>
      booting.servers.add({ ...fixedServer(name), ...more, status, state: { status, since: 0, restarts: 0, inFlight: 0 } });
    const ready = async () => {
      const response = await booting.get('/readyz');
      return [response.status, await response.json()];
    };
    add('slow', 'starting');
    expect(await ready()).toEqual([503, { status: 'starting' }]);
    nowMs = 5000;
    expect(await ready()).toEqual([200, { status: 'ok' }]);
    nowMs = 5001;
    for (const status of ['starting', 'running', 'restarting', 'failed'] as const) {
      add('added later', status);
      expect(await ready()).toEqual([200, { status: ['restarting', 'failed'].includes(status) ? 'degraded' : 'ok' }]);
    }
  });

  it('is not kept waiting by a server that a caller starts', { tags: ['P-687'] }, async () => {
    await using booting = await openToolProxy({ clock: () => 0 });
    const state = { status: 'starting', since: 0, restarts: 0, inFlight: 0 } as const;
    for (const own of [{ isLazy: true }, { isPerAgent: true }])
      booting.servers.add({ ...fixedServer(JSON.stringify(own)), ...own, status: 'starting', state });
    expect((await booting.get('/readyz')).status).toBe(200);
  });
});

it('a hub that drains is alive, and not ready', { tags: ['P-547'] }, async () => {
  await using draining = await openToolProxy({ isDraining: () => true });
  const response = await draining.get('/readyz');
  expect([response.status, await response.json()]).toEqual([503, { status: 'draining' }]);
  expect((await draining.get('/healthz')).status).toBe(200);
});

describe('the functions of the proxy, without HTTP', () => {
  it('call, list and tell the health', async () => {
    const call = proxyToolCall(open.proxy, { server: 'github', tool: 'hello' }, { arguments: { name: 'library' } });
    expect(await call).toMatchObject({ success: true, result: 'Hello, library!' });
    expect((await listProxyServers(open.proxy)).total).toBe(1);
    expect(await proxyHealth()).toEqual({ status: 'ok' });
  });

  it('reject for a server that is not there', async () => {
    await expect(proxyToolCall(open.proxy, { server: 'no', tool: 'x' }, { arguments: {} })).rejects.toMatchObject({
      code: 'unknown_server',
    });
  });
});

/** A server that answers everything, whatever the tool. */
function fixedServer(name: string) {
  const state = { status: 'running' as const, since: 0, restarts: 0, inFlight: 0 };
  return {
    name,
    description: undefined,
    isConfig: true,
    expose: 'direct' as const,
    state,
    status: state.status,
    knownTools: undefined,
    listTools: async () => [],
    request: async () => ({}),
    notify: () => {},
    subscribe: () => () => {},
  };
}

/** A path as it is written; `fetch` would tidy it up. */
async function rawPost(path: string): Promise<Response> {
  const { rawRequest } = await import('../support/raw-http.js');
  const { status, body } = await rawRequest(open.listener.port, {
    method: 'POST',
    target: `/api/v1/mcp/proxy${path}`,
    headers: jsonHeaders,
    body: '{"arguments":{}}',
  });
  return new Response(body, { status });
}
