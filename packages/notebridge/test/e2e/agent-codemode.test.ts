import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/kit/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith, runPython } from '../../../../scripts/python-env.mjs';
import { toHttpCodeAgent } from '../support/code-mode.js';
import { openLegacyAgent } from '../support/http-agent.js';
import { createHome, programFile, runProgram } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

/** The package whose client this is about, and what it needs for its toolset. */
const packages = ['agent-codemode', 'pydantic-ai-slim', 'pydantic-graph'];
const client = fileURLToPath(new URL('../fixtures/agent-codemode-client.py', import.meta.url));
const installTimeoutMs = 8 * 60_000;
const slow = 240_000;
let python: string;
let folder: string;
beforeAll(async () => {
  python = await pythonWith(packages, { environment: 'agents' });
}, installTimeoutMs);
const callsServer = () => ({ command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')] });

/** What the package's own client gets of a hub that is reached so. */
async function runClient(reach: JsonObject): Promise<Record<string, JsonObject>> {
  const printed = await runPython(python, [client, JSON.stringify(reach)]);
  return JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Record<string, JsonObject>;
}

const ways: [name: string, run: () => Promise<Record<string, JsonObject>>][] = [
  [
    'stdio',
    async () => {
      const { home, env } = createHome();
      const file = join(home, 'mcp.json');
      writeFileSync(
        file,
        JSON.stringify({
          mcpServers: { calls: callsServer() },
          notebridge: { codeMode: { tools: 'agent-codemode', allowDirectCalls: true } },
        }),
      );
      try {
        const args = [programFile, 'stdio', '--config', file, '--notebook', 'none'];
        return await runClient({ command: process.execPath, args, env });
      } finally {
        rmSync(home, { recursive: true, force: true });
      }
    },
  ],
  [
    'HTTP',
    async () => {
      await using hub = await ServedHub.start({
        servers: { calls: callsServer() },
        notebridge: { codeMode: { enabled: false, allowDirectCalls: true } },
        args: ['--code-mode=agent-codemode', '--notebook', 'none', '--no-auth'],
      });
      return await runClient({ url: new URL('/mcp', hub.url).href });
    },
  ],
];

describe.each(ways)("agent-codemode's own client over %s", (_name, run) => {
  let got: Record<string, JsonObject>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    got = await run();
  }, slow);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('finds its tools, and answers of the shape that it knows', () => {
    expect(got.tools).toEqual([
      'search_tools',
      'list_tool_names',
      'list_servers',
      'get_tool_details',
      'execute_code',
      'call_tool',
      'save_skill',
      'run_skill',
      'list_skills',
      'delete_skill',
      'get_execution_history',
    ]);
    expect((got.indented as unknown as unknown[]).filter((each) => each === false)).toEqual([]);
    expect(got.servers).toEqual({
      servers: [{ name: 'calls', description: expect.any(String), tool_count: expect.any(Number) }],
      total: 1,
    });
    expect(got.names).toMatchObject({ tool_names: expect.arrayContaining(['calls__count']), truncated: true });
    const details = {
      name: 'calls__count',
      server: 'calls',
      input_schema: expect.objectContaining({ type: 'object' }),
      input_examples: [],
      defer_loading: false,
    };
    expect(got.search).toMatchObject({ tools: expect.arrayContaining([expect.objectContaining(details)]), has_more: expect.any(Boolean) });
    expect(got.details).toEqual({ ...details, description: expect.any(String), output_schema: null });
    expect(got.no_details).toEqual({ error: 'Tool not found: calls__none' });
    expect(got.unknown_argument?.failed).toContain('There is no argument "nonsense"');
  });

  it('runs code that calls tools, and says what it printed and why it failed', () => {
    const fine = { success: true, execution_ok: true, execution_error: null, code_error: null, exit_code: null, error: null };
    expect(got.executed).toEqual({ ...fine, stdout: 'by-theirs\n', stderr: '', result: null });
    expect(got.again).toEqual({ ...fine, stdout: '7\n', stderr: 'oh\n', result: '7' });
    expect(got.raised).toMatchObject({ success: false, execution_ok: true, execution_error: null, exit_code: null });
    expect(got.raised?.code_error).toMatch(/line 2[^]*ValueError: no$/);
    expect(got.raised?.error).toBe(got.raised?.code_error);
    expect(got.late).toMatchObject({ success: false, execution_ok: false, code_error: null });
    expect(got.late?.error).toContain('interrupted after 1 s');
    expect(got.exited).toMatchObject({
      success: false,
      execution_ok: true,
      exit_code: 3,
      code_error: null,
      error: 'Process exited with code: 3',
    });
    expect(got.called).toMatchObject({ success: true, error: null, result: { content: [{ type: 'text', text: 'direct' }] } });
    const past = { tool_name: 'calls__count', success: true, execution_time: expect.any(Number), error: null };
    expect(got.history).toEqual({ history: [past], total: 1 });
    expect(readFileSync(join(folder, 'count'), 'utf8').trim().split('\n')).toEqual(['count by-theirs', 'count direct']);
  });

  it('saves, lists, runs and deletes skills', () => {
    expect(got.saved).toEqual({ success: true, skill_id: 'total', error: null });
    expect(got.saved_again).toMatchObject({ success: false, skill_id: null, error: expect.stringContaining('overwrite') });
    expect(got.bad_name).toMatchObject({ success: false, skill_id: null, error: expect.stringContaining('"name" must be') });
    expect(got.skills).toEqual({ skills: [{ name: 'total', description: 'Adds prices', tags: ['shop'] }], total: 1 });
    expect(got.other_skills).toEqual({ skills: [], total: 0 });
    const ran = { execution_ok: true, execution_error: null, stderr: '', stdout: 'adding\n', output: 'adding\n' };
    expect(got.ran).toEqual({ ...ran, success: true, code_error: null, exit_code: null, result: '6', error: null });
    expect(got.ran_badly).toMatchObject({
      success: false,
      execution_ok: true,
      error: "NameError: name 'prices' is not defined",
      result: null,
    });
    expect(got.no_skill).toMatchObject({ success: false, error: expect.stringContaining('There is no skill "none"') });
    expect(got.deleted).toEqual({ success: true, error: null });
    expect(got.deleted_again).toEqual({ success: false, error: 'Skill not found: total' });
  });

  it('are the tools of its toolset, found, described and called', () => {
    expect(got.toolset?.found).toContain('notebridge__execute_code');
    expect(got.toolset).toMatchObject({ required: ['code'], success: true, ran: { success: true, stdout: '42\n' } });
  });
});

describe('the tools of agent-codemode', () => {
  it(
    'call nothing directly unless the config allows it, are held to a grant, and start no server',
    async () => {
      folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
      try {
        const args = ['--notebook', 'none'];
        await using hub = await ServedHub.start({
          servers: { calls: callsServer() },
          args,
          env: { NOTEBRIDGE_CODE_MODE: 'agent-codemode' },
        });
        const { token } = await hub.grant('--agent', '--allow', 'code-mode:*', '--allow', 'calls:echo');
        const agent = toHttpCodeAgent(await openLegacyAgent(hub, () => token));
        const names = await agent.names();
        expect(names).toContain('execute_code');
        for (const name of ['call_tool', 'add_mcp_server']) {
          expect(names).not.toContain(name);
          await expect(agent.callTool(name, { tool_name: 'calls__echo', arguments: {} })).rejects.toThrow(
            /Unknown tool|no tool|not allowed|denied/i,
          );
        }
        const text = async (tool: string, given: JsonObject) =>
          String(((await agent.callTool(tool, given)).content as JsonObject[])[0]?.text);
        expect(JSON.parse(await text('list_tool_names', {}))).toMatchObject({ tool_names: ['calls__echo'], total: 1 });
        expect(JSON.parse(await text('get_tool_details', { tool_name: 'calls__count' }))).toEqual({
          error: 'Tool not found: calls__count',
        });
        const code = 'from generated.client import call_tool\nprint(await call_tool("calls__count", {"n": "by-code"}))';
        expect(JSON.parse(await text('execute_code', { code }))).toMatchObject({ success: false, execution_ok: true });
        const allowed = 'from generated.mcp.calls import echo\nprint(await echo({"text": "by-code"}))';
        expect(JSON.parse(await text('execute_code', { code: allowed }))).toMatchObject({ success: true });
        expect(linesOf(join(folder, 'count'))).not.toContain('count by-code');
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    slow,
  );

  it('have one spelling on the command line', async () => {
    const { ending, stderr } = await runProgram(['stdio', '--code-mode=theirs']);
    expect([ending, stderr]).toEqual([2, expect.stringContaining('It is "agent-codemode", or left out.')]);
  });
});
