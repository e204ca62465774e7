// @module-tag deep
// @module-tag P-354

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type AgentReply, openLegacyAgent, openModernAgent, type SendMessage } from '../support/http-agent.js';
import { Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer, temporaryPath } from '../support/upstreams.js';

const startMs = 240_000;
const named = (tools: string[], more: JsonObject = {}): JsonObject => ({
  command: process.execPath,
  args: [fixtureServer('named.mjs'), JSON.stringify(tools)],
  ...more,
});
const long = 'x'.repeat(120);
/** Of the plain one: an ordinary name, one that hosts refuse, a long one, one of another server, one of the notebook. */
const servers: ServersForTest = {
  docs: named(['search', 'web.search', long, 'other__x', 'get_cells'], { names: 'plain' }),
  other: named(['x', 'search']),
};
const refused = { other__x: 'docs__other__x', get_cells: 'docs__get_cells' };

describe('a server with plain names', () => {
  let hub: ServedHub;
  let owner: SendMessage;
  beforeAll(async () => {
    hub = await ServedHub.start({ servers, args: ['--notebook', 'local'] });
    owner = openModernAgent(hub, () => hub.ownerToken);
  }, startMs);
  afterAll(() => hub?.[Symbol.asyncDispose]());

  const agentOf = async (...terms: string[]): Promise<SendMessage> => {
    const { token } = await hub.grant('--door', 'agent', ...terms);
    return openModernAgent(hub, () => token);
  };
  const call = (agent: SendMessage, name: string): Promise<AgentReply> => agent('tools/call', { name, arguments: {} });

  it('is judged as the server, also before anything was listed', async () => {
    const [ofDocs, ofNotebook] = [await agentOf('--allow', 'docs:search'), await agentOf('--allow', 'notebook:*')];
    expect((await call(ofNotebook, 'search')).error).toMatchObject({ message: expect.stringContaining('docs') });
    expect(textOf(await call(ofDocs, 'search'))).toBe('I am search');
    expect((await call(ofDocs, 'web.search')).error).toBeDefined();
    expect((await call(ofDocs, 'get_cells')).error).toBeDefined();
    expect((await call(ofDocs, 'unheard_of')).error).toBeDefined();
    // The notebook's own tool, and not that of the server.
    expect(textOf(await call(ofNotebook, 'get_cells'))).toContain('cells');
    expect((await call(ofNotebook, 'docs__get_cells')).error).toBeDefined();
  });

  it('lists its tools by their own names, but for those that are or could be of others', async () => {
    const names = namesOf(await owner('tools/list'));
    expect(names).toEqual(expect.arrayContaining(['search', 'web.search', long, 'other__x', 'other__search', ...Object.values(refused)]));
    expect(names.filter((name) => name === 'get_cells')).toHaveLength(1);
    for (const name of ['search', 'web.search', long]) expect(textOf(await call(owner, name))).toBe(`I am ${name}`);
    expect(textOf(await call(owner, 'other__x'))).toBe('I am x');
    expect(textOf(await call(owner, 'docs__other__x'))).toBe('I am other__x');
    expect(textOf(await call(owner, 'docs__get_cells'))).toBe('I am get_cells');
    expect(textOf(await call(owner, 'get_cells'))).toContain('cells');
    const legacy = await openLegacyAgent(hub, () => hub.ownerToken);
    expect(textOf(await call(legacy, 'search'))).toBe('I am search');
  });

  it('says which names it does not have, in which file and what to do, and shows it to people', async () => {
    for (const [tool, name] of Object.entries(refused)) {
      const said = hub.log().filter(({ msg }) => String(msg).includes(`its tool "${tool}"`));
      expect(said).toHaveLength(1);
      expect(said[0]?.msg).toContain(`${hub.configFile}: "names" of the server "docs" is "plain"`);
      expect(said[0]?.msg).toContain(`agents call it "${name}". Rename one of the two`);
    }
    const { stdout } = await hub.run('tools');
    expect(stdout).toContain('agents call them TOOL');
    expect(stdout).toMatch(/get_cells +\(agents: docs__get_cells\)/);
    expect(stdout).not.toContain('(agents: search)');
  });

  it('shows a grant what it may call, and is addressed by code and the audit as ever', async () => {
    const list = async (...terms: string[]): Promise<string[]> => namesOf(await (await agentOf(...terms))('tools/list'));
    expect(await list('--allow', 'docs:search')).toEqual(['search']);
    expect((await list('--allow', 'docs')).sort()).toEqual(['docs__get_cells', 'docs__other__x', 'search', 'web.search', long].sort());
    const ofNotebook = await list('--allow', 'notebook:*');
    expect(ofNotebook).toContain('get_cells');
    expect(ofNotebook).not.toContain('search');
    const { token } = await hub.grant('--allow', 'docs:search');
    expect((await hub.call('docs', 'search', {}, token)).answer).toMatchObject({ success: true, result: 'I am search' });
    expect((await hub.call('docs', 'get_cells', {}, token)).answer).toMatchObject({ error_code: 'denied' });
    expect((await hub.call('docs', 'get_cells', {}, hub.ownerToken)).answer).toMatchObject({ result: 'I am get_cells' });
    const lines = readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8').trim().split('\n');
    const audited = lines.map((line) => JSON.parse(line) as JsonObject).map(({ server, tool }) => `${server}:${tool}`);
    expect(audited).toEqual(expect.arrayContaining(['docs:search', 'docs:web.search', 'docs:get_cells', 'notebook:get_cells']));
  });

  it('has the bindings that it had', async () => {
    const out = temporaryPath('generated');
    await hub.run('generate', '--config', hub.configFile, '--out', out);
    const manifest = readFileSync(join(out, '_manifest.json'), 'utf8');
    for (const tool of ['search', 'other__x', 'get_cells']) expect(manifest).toContain(`"${tool}"`);
    expect(readFileSync(join(out, 'mcp', 'docs', 'search.py'), 'utf8')).toContain('"search"');
  });
});

describe('the config of plain names', () => {
  it('is followed; a second one is refused, and what held before goes on', { timeout: startMs }, async () => {
    await using hub = await ServedHub.start({ servers: { a: named(['x']), b: named(['y']) }, args: ['--notebook', 'none'] });
    const owner = openModernAgent(hub, () => hub.ownerToken);
    expect(namesOf(await owner('tools/list'))).toEqual(['a__x', 'b__y']);
    const pid = (await report(hub))[0]?.pid;
    hub.writeConfig({ a: named(['x'], { names: 'plain' }), b: named(['y']) });
    await expect.poll(async () => namesOf(await owner('tools/list')).sort()).toEqual(['b__y', 'x']);
    expect((await report(hub))[0]?.pid).toBe(pid);
    // An agent that has not listed anew.
    expect(textOf(await owner('tools/call', { name: 'a__x', arguments: {} }))).toBe('I am x');
    hub.writeConfig({ a: named(['x'], { names: 'plain' }), b: named(['y'], { names: 'plain' }) });
    await hub.logged('"mcpServers.b.names\\" is \\"plain\\", as it is for \\"a\\" already');
    expect(namesOf(await owner('tools/list')).sort()).toEqual(['b__y', 'x']);
  });
});

describe('a server with plain names that nobody has listed', () => {
  it.each([
    ['lazy', { lazy: true }, 'I am search'],
    ['cannot be started', { command: 'no-such-program' }, undefined],
  ])('is not reached by a grant for others: %s', { timeout: startMs }, async (_, more, answer) => {
    await using hub = await ServedHub.start({
      servers: { docs: named(['search'], { names: 'plain', ...more }) },
      args: ['--notebook', 'none'],
    });
    const agentOf = async (allow: string): Promise<SendMessage> => {
      const { token } = await hub.grant('--door', 'agent', '--allow', allow);
      return openModernAgent(hub, () => token);
    };
    const call = { name: 'search', arguments: {} };
    const denied = await (await agentOf('notebook:*'))('tools/call', call);
    expect(denied.error?.message).toMatch(/^Denied: .*docs/);
    const allowed = await (await agentOf('docs'))('tools/call', call);
    if (answer === undefined) expect(JSON.stringify(allowed)).not.toContain('Denied');
    else expect(textOf(allowed)).toBe(answer);
  });
});

describe('a page that brings a tool of the same name later', () => {
  it('is not reached by it', { timeout: startMs }, async () => {
    await using hub = await ServedHub.start({
      servers: { docs: named(['search'], { names: 'plain' }) },
      args: ['--notebook', 'colab', '--no-browser'],
    });
    const owner = openModernAgent(hub, () => hub.ownerToken);
    expect(namesOf(await owner('tools/list'))).toContain('search');
    const opened = JSON.stringify(await owner('tools/call', { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } }));
    const [, token = '', port = ''] = /mcpProxyToken=([^&]+)&mcpProxyPort=(\d+)/.exec(opened) ?? [];
    const tools = ['search', 'mine'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    const page = await RawPage.connect({
      port: Number(port),
      token,
      answer: ({ method }) => (method === 'tools/list' ? { result: { tools } } : undefined),
    });
    onTestFinished(() => page.close());
    await expect.poll(async () => namesOf(await owner('tools/list'))).toContain('mine');
    expect(namesOf(await owner('tools/list')).filter((name) => name === 'search')).toHaveLength(1);
    expect(textOf(await owner('tools/call', { name: 'search', arguments: {} }))).toBe('I am search');
    await hub.logged('is hidden');
  });
});

function namesOf({ result }: AgentReply): string[] {
  return ((result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
}

function textOf({ result }: AgentReply): string {
  return ((result?.content as { text: string }[]) ?? []).map(({ text }) => text).join('\n');
}

async function report(hub: ServedHub): Promise<JsonObject[]> {
  const answer = await hub.request('/api/v1/hub/servers', { token: hub.ownerToken });
  return ((await answer.json()) as { servers: JsonObject[] }).servers;
}

it.each([
  ['undo, which a page has once something was changed', [], 'undo_last_change'],
  ['undo, where the page is held by this process', ['--standalone'], 'undo_last_change'],
  ['the tools of a page that are listed when it comes', ['--list', 'dynamic'], 'run_code_cell'],
])('leaves the notebook what that may have later: %s', { tags: ['P-354'] }, async (_, args, name) => {
  const file = temporaryPath('plain.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { docs: named([name, 'search'], { names: 'plain' }) } }));
  await using program = await Program.open({ args: ['stdio', '--config', file, ...args] });
  const names = namesOf((await program.request('tools/list')) as unknown as AgentReply);
  expect(names).toEqual(expect.arrayContaining(['search', `docs__${name}`]));
  expect(names).not.toContain(name);
  expect(textOf((await program.callTool(`docs__${name}`)) as unknown as AgentReply)).toBe(`I am ${name}`);
});
