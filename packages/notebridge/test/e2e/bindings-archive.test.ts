import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const changing = { command: process.execPath, args: [fixtureServer('changing.mjs')] };
const values = { command: process.execPath, args: [fixtureServer('values.mjs')] };
const path = (language = 'python'): string => `/api/v1/mcp/proxy/bindings/${language}.tar.gz`;

let hub: ServedHub;
beforeAll(async () => {
  const servers = { changing, values, hidden: { ...changing, expose: 'none' }, lazy: { ...changing, lazy: true } };
  hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
  // An archive holds what is known by then.
  await hub.call('changing', 'first', {}, hub.ownerToken);
});
afterAll(() => hub[Symbol.asyncDispose]());

/** A folder with the archive unpacked in it, as `curl … | tar -xz` does. */
async function unpack(token: string, language = 'python'): Promise<string> {
  const response = await hub.request(path(language), { token });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/gzip']);
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'it.tar.gz'), Buffer.from(await response.arrayBuffer()));
  expect(spawnSync('tar', ['-xzf', 'it.tar.gz'], { cwd: folder }).status).toBe(0);
  expect(readdirSync(folder).sort()).toEqual(['generated', 'it.tar.gz']);
  return folder;
}
const serversIn = (folder: string): string[] =>
  readdirSync(join(folder, 'generated', 'mcp'))
    .filter((name) => !name.startsWith('_'))
    .sort();

describe('GET /bindings/*.tar.gz', () => {
  it('gives a package that works where it is unpacked, with the address under which it was asked for', { tags: ['deep'] }, async () => {
    const { token } = await hub.grant('--allow', '*');
    const folder = await unpack(token);
    expect(serversIn(folder)).toEqual(['changing', 'lazy', 'values']);
    const env = { ...bareEnvironment(), NOTEBRIDGE_TOKEN: token };
    const code = 'from generated.mcp.changing import first; print(first.sync())';
    const { stdout, stderr } = spawnSync('python3', ['-c', code], { cwd: folder, env, encoding: 'utf8' });
    expect([stdout, stderr]).toEqual(['1\n', '']);
    expect(readFileSync(join(folder, 'generated', '_manifest.json'), 'utf8')).not.toContain(token);
  });

  it('has TypeScript too', { tags: ['deep'] }, async () => {
    const folder = await unpack(hub.ownerToken, 'typescript');
    expect(readdirSync(join(folder, 'generated'))).toEqual(expect.arrayContaining(['client.js', 'client.d.ts', 'index.js', 'mcp']));
  });

  it('shows a grant only the tools that it may call', { tags: ['P-091'] }, async () => {
    const { token } = await hub.grant('--allow', 'changing:first');
    const folder = await unpack(token);
    expect(serversIn(folder)).toEqual(['changing']);
    const tools = readdirSync(join(folder, 'generated', 'mcp', 'changing')).filter((name) => name !== '__init__.py');
    expect(tools).toEqual(['first.py']);
    // Nothing of the others stands anywhere else, either.
    for (const entry of readdirSync(join(folder, 'generated'), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) expect(readFileSync(join(entry.parentPath, entry.name), 'utf8')).not.toMatch(/breaks_promise|only_\d/);
    }
  });

  it.each(['python', 'typescript'])('holds no token in any file (%s)', { tags: ['P-090'] }, async (language) => {
    const { token } = await hub.grant('--allow', '*');
    const entries = readdirSync(join(await unpack(token, language), 'generated'), { recursive: true, withFileTypes: true });
    const texts = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
    expect(texts.join()).toContain(new URL(hub.url).host);
    for (const secret of [token, hub.ownerToken]) expect(texts.join()).not.toContain(secret);
  });

  it('has a tag that stays while the tools do, answers 304 to who has it, and the same bytes to others', { tags: ['deep'] }, async () => {
    const token = hub.ownerToken;
    const one = await hub.request(path(), { token });
    const tag = one.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[0-9a-f]{64}"$/);
    const bytes = Buffer.from(await one.arrayBuffer());
    expect(Buffer.from(await (await hub.request(path(), { token })).arrayBuffer()).equals(bytes)).toBe(true);
    const known = await hub.request(path(), { token, headers: { 'if-none-match': `"other", W/${tag}` } });
    expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, tag, '']);

    await hub.call('changing', 'become', { version: '9' }, token);
    await expect.poll(async () => (await hub.request(path(), { token, headers: { 'if-none-match': tag } })).status).toBe(200);
  });

  it("refuses who shows no grant, a wrong one, or an agent's, and other methods", { tags: ['deep'] }, async () => {
    expect((await hub.request(path())).status).toBe(401);
    expect((await hub.request(path(), { token: 'nbg_wrong' })).status).toBe(401);
    const { token } = await hub.grant('--agent', '--allow', '*');
    expect((await hub.request(path(), { token })).status).toBe(403);
    // As of any path with a server and a tool: it is there to be called.
    expect((await hub.request(path('cobol'), { token: hub.ownerToken })).status).toBe(405);
    expect((await hub.request(path(), { token: hub.ownerToken, method: 'DELETE' })).status).toBe(405);
    expect((await hub.request(path(), { token: hub.ownerToken, headers: { origin: 'https://evil.example' } })).status).toBe(403);
  });

  it('answers many at once, and calls meanwhile', { tags: ['deep'] }, async () => {
    const token = hub.ownerToken;
    const asked = Array.from({ length: 20 }, async () => (await hub.request(path('typescript'), { token })).headers.get('etag'));
    const { answer } = await hub.call('changing', 'first', {}, token);
    expect(answer.success).toBe(true);
    expect(new Set(await Promise.all(asked)).size).toBe(1);
  });

  it('tells the owner alone what bindings are made from', { tags: ['deep'] }, async () => {
    const { token } = await hub.grant('--allow', '*');
    expect((await hub.request('/api/v1/hub/bindings', { token })).status).toBe(403);
    const { input } = (await (await hub.request('/api/v1/hub/bindings', { token: hub.ownerToken })).json()) as {
      input: { servers: { name: string }[] };
    };
    expect(input.servers.map(({ name }) => name)).toEqual(['changing', 'lazy', 'values']);
  });
});
