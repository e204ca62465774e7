// @module-tag deep
// @module-tag P-177

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLegacyAgent, openModernAgent } from '../support/http-agent.js';
import { Program } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const startMs = 240_000;
const long = 'x'.repeat(120);
/** Names that hosts refuse, that differ only in what they refuse, that meet in the middle, that are too long. */
const toolsOf: Record<string, string[]> = {
  'my.srv': ['files.read', 'files_read', 'files-read', 'größe', '日本語', 'a b', long, `${long}y`],
  my_srv: ['files.read', 'files_read'],
  a: ['b__c'],
  a__b: ['c'],
  größe: ['x'],
  // Nobody has asked it for its tools before the first call.
  'late.srv': ['files.read'],
  // Agents do not see these.
  'my-srv': ['files.read'],
  'my srv': ['files_read', long],
};
const addresses = Object.entries(toolsOf).flatMap(([server, tools]) => tools.map((tool) => ({ server, tool })));
const skills = ['list_skills', 'load_skill'].map((tool) => ({ server: 'skills', tool }));

interface Seen {
  name: string;
  door: string;
  target?: { server: string; tool: string };
}
type Call = (address: { server: string; tool: string }, agentName: string | undefined) => Promise<unknown>;

describe('a middleware that refuses calls by name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-names-'));
  const [seenFile, deniedFile] = [join(folder, 'seen'), join(folder, 'denied')];
  const env = { SEEN_FILE: seenFile, DENIED_FILE: deniedFile };
  const notebridge = {
    middleware: [fileURLToPath(new URL('../fixtures/deny-by-name.mjs', import.meta.url))],
    skills: [{ path: join(folder, 'skills'), trusted: false }],
  };
  const servers = Object.fromEntries(
    Object.entries(toolsOf).map(([name, tools]) => {
      const expose = name === 'my-srv' || name === 'my srv' ? 'code' : 'direct';
      const server = { command: process.execPath, args: [fixtureServer('named.mjs'), JSON.stringify(tools)], expose };
      return [name, { ...server, lazy: name === 'late.srv' || name === 'my srv' }];
    }),
  );
  let hub: ServedHub;
  let program: Program;
  const doors: Record<string, Call> = {};
  const agentNames = new Map<string, string>();
  const keyOf = ({ server, tool }: { server: string; tool: string }): string => `${server}:${tool}`;

  beforeAll(async () => {
    mkdirSync(join(folder, 'skills', 'one'), { recursive: true });
    writeFileSync(join(folder, 'skills', 'one', 'SKILL.md'), '---\nname: one\ndescription: For tests.\n---\nText.');
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: servers, notebridge }));
    writeFileSync(deniedFile, '');
    writeFileSync(seenFile, '');
    hub = await ServedHub.start({ servers, notebridge, args: ['--notebook', 'none'], env });
    program = await Program.open({ args: ['--notebook', 'local', '--config', join(folder, 'mcp.json')], env });
    const { token: ofCode } = await hub.grant();
    const { token: ofAgent } = await hub.grant('--door', 'agent');
    const [legacy, modern] = [await openLegacyAgent(hub, () => ofAgent), openModernAgent(hub, () => hub.ownerToken)];
    const args = { skill_name: 'one' };
    const path = (server: string, tool: string): string =>
      `/api/v1/mcp/proxy/${encodeURIComponent(server)}/tools/${encodeURIComponent(tool)}`;
    const overHttp = (token: () => string): Call => {
      return async ({ server, tool }) => (await hub.request(path(server, tool), { token: token(), body: { arguments: args } })).json();
    };
    doors['the tool proxy, with a grant'] = overHttp(() => ofCode);
    doors['the tool proxy, as its owner'] = overHttp(() => hub.ownerToken);
    doors['the kernel of the built-in notebook'] = async ({ server, tool }) => {
      const call = `await call(${JSON.stringify(server)}, ${JSON.stringify(tool)}, ${JSON.stringify(args)})`;
      const lines = [
        'from generated._calls import call',
        'try:',
        `    answer = repr(${call})`,
        'except Exception as error:',
        '    answer = repr(error)',
      ];
      return program.callTool('run_code', { code: [...lines, 'answer'].join('\n') });
    };
    doors['agents over stdio'] = (_, name) => program.callTool(name ?? '', args);
    doors['legacy agents over HTTP'] = (_, name) => legacy('tools/call', { name: name ?? '', arguments: args });
    doors['modern agents over HTTP'] = (_, name) => modern('tools/call', { name: name ?? '', arguments: args });
  }, startMs);
  afterAll(async () => {
    await program?.close();
    await hub?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The name under which a call was seen, and its answer. */
  async function seenBy(door: string, address: { server: string; tool: string }): Promise<{ seen: Seen | undefined; answer: string }> {
    const before = linesOf(seenFile).length;
    const answer = JSON.stringify(await doors[door]?.(address, agentNames.get(keyOf(address))));
    const seen = linesOf(seenFile)
      .slice(before)
      .map((line) => JSON.parse(line) as Seen);
    return { seen: seen.find(({ name }) => name !== 'run_code'), answer };
  }

  it('sees, of a server that nobody has listed yet, the name that agents are shown later', async () => {
    const { seen, answer } = await seenBy('the tool proxy, with a grant', { server: 'late.srv', tool: 'files.read' });
    expect([seen?.name, answer.includes('I am files.read')]).toEqual(['late_srv__files_read', true]);
    expect((await seenBy('the tool proxy, with a grant', { server: 'my srv', tool: 'files_read' })).seen?.name).toMatch(
      /^my_srv__files_read_[0-9a-f]{6}$/,
    );
  });

  it('sees one name for one tool at every door, and servers see their own', { timeout: startMs }, async () => {
    // Agents ask for the list; from then on the names are fixed.
    await program.request('tools/list');
    await doors['modern agents over HTTP']?.({ server: '', tool: '' }, 'nothing');
    for (const server of Object.keys(servers))
      await hub.request(`/api/v1/hub/servers/${encodeURIComponent(server)}`, { token: hub.ownerToken });
    const report = (await (await hub.request('/api/v1/hub/servers', { token: hub.ownerToken })).json()) as { servers: JsonObject[] };
    for (const { name, tools } of report.servers as { name: string; tools: { name: string; agent_name: string | null }[] }[])
      for (const tool of tools) if (tool.agent_name !== null) agentNames.set(`${name}:${tool.name}`, tool.agent_name);

    const names = new Map<string, string>();
    let calls = 0;
    for (const address of [...addresses, ...skills]) {
      const agentName = agentNames.get(keyOf(address));
      const seenNames = new Set<string | undefined>();
      for (const door of Object.keys(doors)) {
        if (agentName === undefined && door.includes('agents')) continue;
        const { seen, answer } = await seenBy(door, address);
        calls++;
        seenNames.add(seen?.name);
        expect([door, seen?.target]).toEqual([door, address]);
        if (address.server !== 'skills') expect([door, answer]).toEqual([door, expect.stringContaining(`I am ${address.tool}`)]);
      }
      expect([address, seenNames.size]).toEqual([address, 1]);
      const [name = ''] = seenNames;
      if (agentName !== undefined) expect(name).toBe(agentName);
      names.set(keyOf(address), name ?? '');
    }
    expect(new Set(names.values()).size).toBe(addresses.length + skills.length);
    console.info(`${calls} calls of ${names.size} tools through ${Object.keys(doors).length} doors: one name each`);

    writeFileSync(deniedFile, [...names.values()].join('\n'));
    for (const address of [...addresses, ...skills]) {
      for (const door of Object.keys(doors)) {
        if (!agentNames.has(keyOf(address)) && door.includes('agents')) continue;
        const { answer } = await seenBy(door, address);
        expect([door, address, answer]).toEqual([door, address, expect.stringContaining('denied by name')]);
        expect(answer).not.toContain('I am');
      }
    }
  });

  it('leaves the real names of server and tool in the audit', () => {
    const lines = readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8').trim().split('\n');
    const called = new Set(lines.map((line) => JSON.parse(line) as JsonObject).map(({ server, tool }) => `${server}:${tool}`));
    for (const address of addresses) expect(called).toContain(keyOf(address));
  });
});
