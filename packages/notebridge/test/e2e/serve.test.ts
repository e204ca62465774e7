import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { coreAndDeep } from '../support/core-and-deep.js';
import { hangsAfterMs } from '../support/hangs-after.js';
import { addressIn, runProgram } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { installedServer, ServedHub } from '../support/served-hub.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const proxy = '/api/v1/mcp/proxy';
const stateMode = (path: string): number => statSync(path).mode & 0o777;

describe('a hub with three servers of others', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    hub = await ServedHub.start({
      servers: {
        everything: installedServer('everything'),
        fs: installedServer('filesystem', [process.cwd()]),
        count: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] },
      },
    });
    await hub.until(() => hub.stderr.includes('running on stdio'));
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('tells its owner where it is, in files that only the owner can read', { tags: ['P-131'] }, () => {
    const file = JSON.parse(readFileSync(join(hub.stateDir, 'hub.json'), 'utf8')) as JsonObject;
    expect(file).toMatchObject({ url: hub.url, pid: hub.pid });
    expect([stateMode(hub.stateDir), stateMode(join(hub.stateDir, 'hub.json')), stateMode(join(hub.stateDir, 'owner-token'))]).toEqual([
      0o700, 0o600, 0o600,
    ]);
    expect(hub.stdout).toBe('');
  });

  it('listens on both loopback addresses, and on no other', { tags: ['P-114'] }, async () => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .flatMap((each) => (each === undefined || each.internal || each.scopeid ? [] : [each.address]));
    for (const [host, expected] of [
      ['127.0.0.1', 'connected'],
      ['::1', 'connected'],
      ...outside.map((address) => [address, 'ECONNREFUSED']),
    ]) {
      const socket = connect(hub.port, host);
      const found = await once(socket, 'connect').then(
        () => 'connected',
        ({ code }: NodeJS.ErrnoException) => code,
      );
      socket.destroy();
      expect([host, found]).toEqual([host, expected]);
    }
  });

  it('is found and used by the commands with no settings at all', { tags: ['P-012'] }, async () => {
    expect(await hub.run('call', 'everything', 'echo', 'message=over the bridge')).toEqual({
      ending: 0,
      stdout: 'Echo: over the bridge\n',
      stderr: '',
    });
    const { stdout } = await hub.run('servers', '--json');
    const { hub: url, servers } = JSON.parse(stdout) as { hub: string; servers: JsonObject[] };
    expect(url).toBe(hub.url);
    expect(servers.map(({ name, status }) => [name, status])).toEqual([
      ['everything', 'running'],
      ['fs', 'running'],
      ['count', 'running'],
    ]);
    for (const { pid } of servers) expect(pid).toEqual(expect.any(Number));
  });

  it.each([
    ['POST', `${proxy}/count/tools/echo`],
    ['POST', `${proxy}/count/echo`],
    ['GET', `${proxy}/servers`],
    ['GET', '/api/v1/hub/servers'],
    ['GET', '/api/v1/hub/servers/count'],
    ['POST', '/mcp'],
    ['GET', '/mcp'],
    ['DELETE', '/mcp'],
  ])('%s %s without a token, or with a wrong one, is refused', { tags: ['P-125'] }, async (method, path) => {
    const headers = { accept: 'application/json, text/event-stream' };
    const body = method === 'POST' ? { arguments: {}, jsonrpc: '2.0', id: 1, method: 'tools/list' } : undefined;
    for (const token of [undefined, 'nbg_wrong', hub.ownerToken.slice(0, -1)]) {
      const { status } = await hub.request(path, { method, headers, body, ...(token === undefined ? {} : { token }) });
      expect(status).toBe(401);
    }
  });

  it('answers who asks for its health without a token, and shows nothing else', { tags: ['P-079'] }, async () => {
    expect(await (await hub.request(`${proxy}/health`)).json()).toEqual({ status: 'ok' });
    expect(Object.keys((await (await hub.request('/readyz')).json()) as JsonObject)).toEqual(['status']);
    expect((await hub.request('/docs')).status).toBe(200);
  });

  it('holds code to its grant', { tags: ['P-126'] }, async () => {
    const { token } = await hub.grant('--allow', 'count:echo', '--calls', '2');
    expect(await hub.call('count', 'echo', { a: 1 }, token)).toMatchObject({ status: 200, answer: { success: true, result: { a: 1 } } });
    const denied = await hub.call('everything', 'echo', { message: 'x' }, token);
    expect(denied.answer).toMatchObject({ success: false, error_code: 'denied' });
    const { servers } = (await (await hub.request(`${proxy}/servers`, { token })).json()) as {
      servers: { name: string; tools: JsonObject[] }[];
    };
    expect(servers.map(({ name, tools }) => [name, tools.map((tool) => tool.name)])).toEqual([['count', ['echo']]]);
    await hub.call('count', 'echo', {}, token);
    expect((await hub.call('count', 'echo', {}, token)).answer).toMatchObject({ error_code: 'budget_exhausted' });
    expect((await hub.request('/api/v1/hub/servers', { token })).status).toBe(403);
  });

  it('holds an agent to its grant, and lets no grant through the other door', { tags: ['P-126'] }, async () => {
    const [code, agent] = [await hub.grant('--allow', 'count:*'), await hub.grant('--agent', '--allow', 'count:*')];
    await using client = await openAgent(hub, agent.token);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('count__echo');
    expect(tools.filter(({ name }) => !name.startsWith('count__'))).toEqual([]);
    expect(await client.callTool({ name: 'count__echo', arguments: { b: 2 } })).toMatchObject({ structuredContent: { b: 2 } });
    await expect(client.callTool({ name: 'everything__echo', arguments: { message: 'x' } })).rejects.toThrow(/Denied/);
    expect((await hub.call('count', 'echo', {}, agent.token)).status).toBe(403);
    await expect(openAgent(hub, code.token)).rejects.toThrow();
  });

  it('a grant that another process revokes opens nothing any more, within a second', { tags: ['P-130'] }, async () => {
    const { token, id } = await hub.grant();
    expect((await hub.call('count', 'echo', {}, token)).status).toBe(200);
    expect(await hub.run('grant', 'revoke', id)).toMatchObject({ ending: 0, stdout: `Revoked ${id}.\n` });
    const revokedAt = performance.now();
    let status = 200;
    while (status === 200 && performance.now() < revokedAt + soonerThanNeverMs) ({ status } = await hub.call('count', 'echo', {}, token));
    expect(status).toBe(401);
  });

  it('serves a notebook page on the same port', { tags: ['deep'] }, async () => {
    await using client = await openAgent(hub, hub.ownerToken);
    const opened = await client.callTool({ name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } });
    const address = addressIn(opened);
    expect(address.port).toBe(hub.port);
    const answers: Record<string, JsonObject> = {
      'tools/list': { tools: [{ name: 'get_cells', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'cells' }] },
    };
    const answer = ({ method }: JsonObject) => (Object.hasOwn(answers, String(method)) ? { result: answers[String(method)] } : undefined);
    await using _page = await RawPage.serve({ ...address, answer });
    expect(await client.callTool({ name: 'get_cells', arguments: {} })).toMatchObject({ content: [{ text: 'cells' }] });
    // The page's token opens the page's door alone.
    expect((await hub.call('count', 'echo', {}, address.token)).status).toBe(401);
  });

  it('takes every call down in the audit, whoever made it, without its arguments', { tags: ['P-135'] }, async () => {
    await hub.call('count', 'echo', { text: 'not-for-the-audit' }, hub.ownerToken);
    const read = (): string => readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8');
    // Lines are written at the end of the turn, so that no answer waits for them.
    await vi.waitUntil(() => /"principal":"owner","door":"tool-proxy".*"server":"count"/.test(read()), { timeout: hangsAfterMs });
    const audit = read();
    const lines = audit
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
    expect(lines).toContainEqual(
      expect.objectContaining({ door: 'tool-proxy', principal: 'owner', server: 'count', tool: 'echo', outcome: 'ok' }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({ door: 'http', principal: 'grant', server: 'count', tool: 'echo', outcome: 'ok' }),
    );
    expect(lines).toContainEqual(expect.objectContaining({ server: 'everything', outcome: 'denied' }));
    expect(audit).not.toContain('not-for-the-audit');
  });

  it('a second hub on its port, or of its name, is told whose it is, and starts nothing', { tags: ['P-007', 'P-699'] }, async () => {
    const isThere = `serves at ${hub.url} already (pid ${hub.pid}). Use that one, end it, or`;
    const onPort = await hub.run('serve', '--port', String(hub.port), '--name', 'other');
    expect([onPort.ending, onPort.stderr]).toEqual([1, `notebridge: Your hub "hub" ${isThere} choose another --port.\n`]);
    const named = await hub.run('serve', '--port', '0');
    expect([named.ending, named.stderr]).toEqual([
      2,
      `notebridge: A hub of yours that is called "hub" ${isThere} give this one another name: --name NAME\n`,
    ]);
  });
});

describe('a hub without tokens', () => {
  it('serves the clients of the reference, which send none, and no web page', { tags: ['deep', 'P-080'] }, async () => {
    await using hub = await ServedHub.start({ servers: { github: calls() }, args: ['--no-auth', '--notebook', 'none'] });
    expect(hub.log()).toContainEqual(expect.objectContaining({ level: 'warn', msg: expect.stringContaining('--no-auth') }));
    expect(await (await hub.request(`${proxy}/health`)).json()).toEqual({ status: 'ok' });
    const called = await hub.call('github', 'echo', { owner: 'x' });
    expect(called).toMatchObject({ status: 200, answer: { success: true, result: { owner: 'x' }, error: null, is_error: false } });
    expect((await hub.request(`${proxy}/github/echo`, { body: { arguments: {} } })).status).toBe(200);
    const { servers } = (await (await hub.request(`${proxy}/servers`)).json()) as { servers: JsonObject[] };
    expect(servers).toMatchObject([{ id: 'github', name: 'github', is_config: true, is_running: true }]);
    for (const headers of [{ origin: 'http://localhost:3000' }, { 'sec-fetch-site': 'cross-site' }] as Record<string, string>[])
      expect((await hub.request(`${proxy}/github/echo`, { body: { arguments: {} }, headers })).status).toBe(403);
  });

  const refused: [string[], RegExp][] = [
    [['--host', '0.0.0.0', '--no-auth'], /--no-auth cannot be combined with --host 0\.0\.0\.0/],
    [['--notebook', 'nowhere'], /--notebook "nowhere" cannot be used/],
    [['--port', '99999'], /--port.*whole number/],
  ];
  for (const { cells, tags } of coreAndDeep(refused, (_, index) => index === 0))
    it.each(cells)('%j is refused in one line, with exit code 2', { tags: [...tags, 'P-080'] }, async (args, message) => {
      const { ending, stdout, stderr } = await runProgram(['serve', ...args]);
      expect({ ending, stdout }).toEqual({ ending: 2, stdout: '' });
      expect(stderr.split('\n')[0]).toMatch(message);
    });

  it('a hub on an address of the network asks for tokens, and warns', { tags: ['P-114'] }, async () => {
    await using hub = await ServedHub.start({ args: ['--host', '0.0.0.0', '--notebook', 'none'] });
    expect(hub.log()).toContainEqual(expect.objectContaining({ level: 'warn', msg: expect.stringContaining('without encryption') }));
    expect((await hub.request(`${proxy}/servers`)).status).toBe(401);
    expect((await hub.request(`${proxy}/servers`, { headers: { host: 'evil.example' } })).status).not.toBe(200);
  });
});

describe('the end of a hub', () => {
  /** A hub with a call that runs; `outcome` is what becomes of it, `server` the id of its server's process. */
  async function withCall() {
    const hub = await ServedHub.start({ servers: { slow: calls('${HOME}/count') }, args: ['--notebook', 'none'] });
    onTestFinished(() => hub[Symbol.asyncDispose]());
    const outcome = hub.call('slow', 'wait', { key: 'k' }, hub.ownerToken).then(
      ({ answer }) => answer.error_code ?? answer.result,
      () => 'cut',
    );
    while (!linesOf(join(hub.home, 'count')).includes('wait k')) await hub.request('/healthz');
    const [{ pid }] = await serversOf(hub);
    return { hub, outcome, server: Number(pid) };
  }

  for (const { cells, tags } of coreAndDeep(
    [['SIGINT'], ['SIGTERM', 'SIGTERM'], ['SIGTERM', 'SIGINT']] as const,
    ({ length }) => length === 1,
  ))
    it.each(cells.map((signals) => ({ signals })))(
      'comes within three seconds of $signals, with its servers, its file and a call that runs',
      { tags: [...tags, 'P-003', 'P-701'] },
      async ({ signals }) => {
        const { hub, outcome, server } = await withCall();
        const startedAt = performance.now();
        for (const signal of signals) {
          hub.child.kill(signal);
          await hub.logged('Ending');
        }
        expect(await hub.ended).toBe(0);
        expect(performance.now() - startedAt).toBeLessThan(soonerThanNeverMs);
        expect(['hub_gone', 'cut', 'closed', 'upstream_unavailable']).toContain(await outcome);
        expect(() => statSync(join(hub.stateDir, 'hub.json'))).toThrow();
        expect(() => process.kill(server, 0)).toThrow();
      },
    );

  it('waits after SIGTERM for the calls that run, and begins no more', { tags: ['P-701'] }, async () => {
    const { hub, outcome, server } = await withCall();
    hub.child.kill('SIGTERM');
    await hub.logged('may still end, for 8 s');
    const refused = await hub.request(`${proxy}/slow/tools/echo`, { body: { arguments: {} }, token: hub.ownerToken });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await hub.request('/readyz')).status).toBe(503);
    process.kill(server, 'SIGUSR2');
    expect([await outcome, await hub.ended]).toEqual(['released k', 0]);
  });
});

function calls(file = '${HOME}/count'): JsonObject {
  return { command: process.execPath, args: [fixtureServer('calls.mjs'), file] };
}

async function serversOf(hub: ServedHub): Promise<[JsonObject, ...JsonObject[]]> {
  const { servers } = (await (await hub.request('/api/v1/hub/servers', { token: hub.ownerToken })).json()) as { servers: JsonObject[] };
  const [first, ...others] = servers;
  if (first === undefined) throw new Error('The hub has no server.');
  return [first, ...others];
}

/** An MCP agent over HTTP. */
async function openAgent(hub: ServedHub, token: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'agent', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', hub.url), { requestInit }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
