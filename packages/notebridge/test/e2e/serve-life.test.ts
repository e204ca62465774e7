// @module-tag deep

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, vi } from 'vitest';
import { hangsAfterMs } from '../support/hangs-after.js';
import { Program } from '../support/program.js';
import { isAlive, ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const calls = (more: JsonObject = {}): JsonObject => ({
  command: process.execPath,
  args: [fixtureServer('calls.mjs'), '${HOME}/count'],
  ...more,
});
const family = { command: process.execPath, args: [fixtureServer('family.mjs'), '${HOME}/family'] };

interface Fares {
  name: string;
  status: string;
  pid: number | null;
}

async function servers(hub: ServedHub): Promise<Record<string, Fares>> {
  const response = await hub.request('/api/v1/hub/servers', { token: hub.ownerToken });
  const { servers: list } = (await response.json()) as { servers: Fares[] };
  return Object.fromEntries(list.map((server) => [server.name, server]));
}

const isRunning = async (hub: ServedHub, ...names: string[]): Promise<boolean> => {
  const found = await servers(hub);
  return names.every((name) => found[name]?.status === 'running');
};

describe('a hub that is killed', () => {
  it('leaves no server behind, nor what the server had started', { tags: ['P-004'] }, async ({ skip }) => {
    skip(process.platform !== 'linux', 'processes are looked up in /proc');
    await using hub = await ServedHub.start({ servers: { family }, args: ['--notebook', 'none'] });
    await vi.waitUntil(() => isRunning(hub, 'family'), { timeout: hangsAfterMs });
    const pids = linesOf(join(hub.home, 'family')).map(Number);
    expect(pids).toHaveLength(3);
    expect(pids.filter(isAlive)).toEqual(pids);
    await hub.stop('SIGKILL');
    await vi.waitUntil(() => pids.filter(isAlive).length === 0, { timeout: hangsAfterMs });
  });
});

/** What a restart would change. The tools are no part of it: they are listed in the background, some time after the start. */
function livesOf(all: Awaited<ReturnType<typeof servers>>): unknown {
  return Object.entries(all).map(([name, { pid, status }]) => ({ name, pid, status }));
}

describe('an edit of the config of a running hub', () => {
  it('starts and ends only what changed; a broken one is reported, and changes nothing', { tags: ['P-025', 'P-026'] }, async () => {
    await using hub = await ServedHub.start({ servers: { stays: calls(), goes: calls() }, args: ['--notebook', 'none'] });
    await vi.waitUntil(() => isRunning(hub, 'stays', 'goes'), { timeout: hangsAfterMs });
    const before = await servers(hub);

    hub.writeConfig({ stays: calls(), comes: calls() });
    await vi.waitUntil(() => isRunning(hub, 'stays', 'comes'), { timeout: hangsAfterMs });
    const after = await servers(hub);
    expect(Object.keys(after)).toEqual(['stays', 'comes']);
    expect(after.stays?.pid).toBe(before.stays?.pid);
    expect(isAlive(before.goes?.pid ?? 0)).toBe(false);

    writeFileSync(hub.configFile, '{"mcpServers": {"stays": ');
    await hub.logged('The changed config is not used');
    expect(livesOf(await servers(hub))).toEqual(livesOf(after));
    expect((await hub.call('comes', 'echo', {}, hub.ownerToken)).status).toBe(200);

    hub.writeConfig({ stays: calls({ env: { NEW: 'value-of-new' } }), comes: calls() });
    await vi.waitUntil(async () => (await servers(hub)).stays?.pid !== before.stays?.pid && (await isRunning(hub, 'stays')), {
      timeout: hangsAfterMs,
    });
    expect((await servers(hub)).comes?.pid).toBe(after.comes?.pid);
  });
});

describe('the keys of servers', () => {
  it('are nowhere but in the environment of their server', { tags: ['P-069'] }, async ({ skip }) => {
    skip(process.platform !== 'linux', 'processes are looked up in /proc');
    const secret = 'sk-a-key-of-a-server-12345';
    const env = { MY_KEY: secret };
    const dies = {
      command: process.execPath,
      args: ['-e', 'console.error("my key is " + process.env.KEY); process.exit(3)'],
      env: { KEY: '${MY_KEY}' },
    };
    await using hub = await ServedHub.start({
      servers: {
        keyed: calls({ env: { KEY: '${MY_KEY}' } }),
        dies,
        away: { url: 'http://127.0.0.1:1/mcp', headers: { Authorization: 'Bearer ${MY_KEY}' } },
      },
      notebridge: { audit: { logArguments: true } },
      args: ['--log-level', 'debug'],
      env,
    });
    const token = hub.ownerToken;
    await vi.waitUntil(async () => (await isRunning(hub, 'keyed')) && (await servers(hub)).dies?.status === 'failed', {
      timeout: hangsAfterMs,
    });
    const said: string[] = [];
    // The server prints its own key, is handed it, and fails over it.
    await hub.call('keyed', 'say', { line: `the key is ${secret}` }, token);
    for (const path of ['/readyz', '/api/v1/hub/servers', '/api/v1/mcp/proxy/servers', '/openapi.json'])
      said.push(await (await hub.request(path, { token })).text());
    said.push(JSON.stringify([await hub.call('dies', 'x', {}, token), await hub.call('away', 'x', {}, token)]));
    for (const args of [['servers'], ['tools'], ['servers', '--json'], ['call', 'dies', 'x'], ['call', 'away', 'x'], ['grant', '--json']]) {
      const { stdout, stderr } = await hub.run(...args);
      said.push(stdout, stderr);
    }
    const { pid = 0 } = (await servers(hub)).keyed ?? {};
    for (const each of [hub.pid, pid ?? 0]) said.push(readFileSync(`/proc/${each}/cmdline`, 'utf8'));
    // The tool that shows its environment shows it to who may call it, and to nobody else.
    expect(JSON.stringify(await hub.call('keyed', 'env', {}, token))).toContain(secret);
    await hub.stop();
    said.push(hub.stdout, hub.stderr, ...filesUnder(join(hub.home, 'state')).map((file) => readFileSync(file, 'utf8')));
    expect(hub.stderr).toContain('the key is [redacted: ');
    for (const text of said) expect(text).not.toContain(secret);
    const ownToken = (text: string): boolean => text.includes(token) && text.trim() !== token;
    expect(said.filter(ownToken)).toEqual([]);
  });
});

describe('an agent on stdio whose config has servers', () => {
  it('sees their tools beside those of the notebook, calls them, and has it taken down', { tags: ['P-135'] }, async () => {
    await using hub = await ServedHub.start({ servers: { calls: calls({}) }, args: ['--notebook', 'none'] });
    await using program = await Program.open({ args: ['--config', hub.configFile], env: hub.env });
    const { result } = (await program.request('tools/list')) as { result: { tools: JsonObject[] } };
    const names = result.tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['run_code_cell', 'open_colab_browser_connection', 'calls__echo']));
    expect(await program.callTool('calls__echo', { a: 1 })).toMatchObject({ result: { structuredContent: { a: 1 } } });
    await program.callTool('get_cells');
    expect(await program.close()).toBe(0);
    const audit = readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8');
    const lines = audit
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
    expect(lines).toContainEqual(
      expect.objectContaining({ door: 'stdio', principal: 'owner', server: 'calls', tool: 'echo', outcome: 'ok' }),
    );
    expect(lines).toContainEqual(expect.objectContaining({ door: 'stdio', server: 'notebook', tool: 'get_cells' }));
  });

  it('follows an edit, and tells the agent', async () => {
    await using hub = await ServedHub.start({ servers: { one: calls() }, args: ['--notebook', 'none'] });
    await using program = await Program.open({ args: ['--config', hub.configFile], env: hub.env });
    await program.request('tools/list');
    hub.writeConfig({ one: calls(), two: calls() });
    const hasTwo = async (): Promise<boolean> => {
      const { result } = (await program.request('tools/list')) as { result: { tools: JsonObject[] } };
      return result.tools.some(({ name }) => name === 'two__echo');
    };
    await program.notification('notifications/tools/list_changed');
    await vi.waitUntil(hasTwo, { timeout: hangsAfterMs });
  });
});

function filesUnder(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}
