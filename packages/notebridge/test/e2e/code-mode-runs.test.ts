import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { modernVersion, withEnvelope } from '../support/agents.js';
import { toCodeAnswer, toHttpCodeAgent } from '../support/code-mode.js';
import { openLegacyAgent, openModernAgent } from '../support/http-agent.js';
import { Program } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const slow = 240_000;
const callsServer = (folder: string) => ({ command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')] });
const waitFor = (key: string) => `from generated.mcp.calls import wait\nawait wait(key="${key}")`;

describe('a run of execute_code over stdio', () => {
  let folder: string;
  let program: Program;
  let lastId = 0;
  const lines = () => linesOf(join(folder, 'count'));
  const has = (line: string) => vi.waitUntil(() => lines().includes(line), { timeout: 60_000 });
  const start = (args: JsonObject, meta: JsonObject = {}) => {
    const id = `run-${++lastId}`;
    const answer = program.request('tools/call', { name: 'execute_code', arguments: args, _meta: meta }, id);
    // One that is cancelled is never answered.
    answer.catch(() => {});
    return { id, answer };
  };
  const run = async (args: JsonObject, meta?: JsonObject) => toCodeAnswer((await start(args, meta).answer).result as JsonObject);
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const file = join(folder, 'mcp.json');
    const notebridge = { codeMode: { parallelCalls: 4, kernels: 3 } };
    writeFileSync(file, JSON.stringify({ mcpServers: { calls: callsServer(folder) }, notebridge }));
    const args = ['stdio', '--code-mode', '--config', file, '--notebook', 'local', '--standalone'];
    program = await Program.open({ args });
    await run({ code: 'kept = 1' });
  }, slow);
  afterAll(async () => {
    await program.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('ends with the cancel of the agent, and with it the call that it waits for; variables stay', { tags: ['P-391'] }, async () => {
    const { id } = start({ code: `kept = 2\n${waitFor('cancelled-code')}` });
    await has('wait cancelled-code');
    program.notify('notifications/cancelled', { requestId: id });
    await has('cancelled cancelled-code');
    expect(await run({ code: 'kept' })).toMatchObject({ status: 'ok', result: '2' });
  });

  it('goes on when its run_id was given, until a call that waits for it is cancelled', { tags: ['deep', 'P-391'] }, async () => {
    const { runId } = await run({ code: waitFor('by-run-id'), wait_seconds: 0 });
    await has('wait by-run-id');
    const { id } = start({ run_id: runId });
    program.notify('notifications/cancelled', { requestId: id });
    await has('cancelled by-run-id');
    const ended = await run({ run_id: runId });
    expect(ended).toMatchObject({ status: 'interrupted', isError: true });
    expect(ended.texts.at(-1)).toContain('- calls.wait: cancelled; whether it had an effect is unknown');
  });

  it('calls no more tools at once than it may', { tags: ['deep'] }, async () => {
    const code = 'import asyncio\nfrom generated.mcp.calls import wait\nawait asyncio.gather(*(wait(key=f"slot-{n}") for n in range(10)))';
    const { runId } = await run({ code, wait_seconds: 0 });
    await has('wait slot-3');
    const { id } = start({ run_id: runId });
    program.notify('notifications/cancelled', { requestId: id });
    await has('cancelled slot-3');
    await run({ run_id: runId });
    expect(
      lines()
        .filter((line) => line.startsWith('wait slot-'))
        .sort(),
    ).toEqual([0, 1, 2, 3].map((n) => `wait slot-${n}`));
  });

  it('a run of an execution_id runs once, whatever is sent again', { tags: ['P-393'] }, async () => {
    const args = { code: 'from generated.mcp.calls import count\nawait count(n="once")', execution_id: 'e1' };
    const [first, second] = await Promise.all([run(args), run(args)]);
    expect(first).toMatchObject({ status: 'ok', result: "'once'" });
    expect(second).toEqual(first);
    expect(await run(args)).toEqual(first);
    expect(lines().filter((line) => line === 'count once')).toHaveLength(1);
    expect(await run({ code: '1', execution_id: 'e1' })).toMatchObject({ isError: true, code: 'execution_conflict' });
  });

  it('has the right to call tools while it lasts: what it leaves in the background is refused until the next one', {
    tags: ['P-394'],
  }, async () => {
    const code = `
import asyncio
from generated.mcp.calls import count
seen = []
async def go_on():
    for n in range(1000):
        try:
            seen.append(await count(n=f"background-{n}"))
        except Exception as error:
            seen.append(str(error))
        await asyncio.sleep(0.02)
task = asyncio.ensure_future(go_on())
while not seen: await asyncio.sleep(0.02)`;
    expect(await run({ code })).toMatchObject({ status: 'ok' });
    const after = lines().filter((line) => line.includes('background')).length;
    const { result } = await run({ code: 'import time\nlen(seen)' });
    expect(Number(result)).toBeGreaterThan(0);
    await vi.waitUntil(async () => /has ended/.test(String((await run({ code: '[one for one in seen if "ended" in one][:1]' })).result)), {
      timeout: 60_000,
      interval: 100,
    });
    expect(after).toBeGreaterThan(0);
    await run({ code: 'task.cancel()' });
  });

  it('tells the progress of the calls that it makes as its own', { tags: ['deep'] }, async () => {
    const before = program.notifications.length;
    await run({ code: 'from generated.mcp.calls import steps\nawait steps()' }, { progressToken: 'mine' });
    const told = program.notifications.slice(before).filter(({ method }) => method === 'notifications/progress');
    expect(told.map(({ params }) => (params as JsonObject).progressToken)).toContain('mine');
    expect(told.map(({ params }) => String((params as JsonObject).message)).join('\n')).toMatch(/calls\.steps/);
  });

  it('runs as a cell of the notebook, where a person sees it', { tags: ['deep', 'P-397'], timeout: slow }, async () => {
    const { result } = await start({ code: '20 + 22', notebook: 'selected' }).answer;
    expect(JSON.stringify(result)).toContain('42');
    const { result: listed } = await program.callTool('get_cells');
    expect(JSON.stringify(listed)).toContain('20 + 22');
  });

  it('a run of a session that is not there says so, and runs nothing', { tags: ['P-388'] }, async () => {
    const answer = await run({ code: 'from generated.mcp.calls import count\nawait count(n="gone")', session: 'nobody' });
    expect(answer).toMatchObject({ isError: true, code: 'session_gone' });
    expect(answer.texts[0]).toContain('Its variables are gone');
    expect(lines()).not.toContain('count gone');
    expect(await run({ run_id: 'nothing' })).toMatchObject({ isError: true, code: 'unknown_run' });
  });

  it('makes room for another Python by the one that is idle longest, and is refused while all are busy', {
    tags: ['deep', 'P-396'],
    timeout: slow,
  }, async () => {
    const sessions = [];
    for (const n of [1, 2, 3]) sessions.push((await run({ code: `mine = ${n}`, session: 'new' })).session);
    const own = await run({ code: '"kept" in globals()' });
    expect(own).toMatchObject({ status: 'ok', result: 'False' });
    expect(own.texts.join('\n')).toContain('The variables of before are gone');
    expect(await run({ code: 'mine', session: sessions[2] })).toMatchObject({ result: '3' });
    expect(await run({ code: '"mine" in globals()', session: sessions[0] })).toMatchObject({ result: 'False' });
    const runs = [];
    for (const session of sessions) runs.push((await run({ code: waitFor(`busy-${session}`), session, wait_seconds: 0 })).runId);
    for (const session of sessions) await has(`wait busy-${session}`);
    const refused = await run({ code: '1', kernel: 'fresh' });
    expect(refused).toMatchObject({ isError: true, code: 'limit_reached' });
    expect(refused.texts[0]).toContain('All 3 interpreters run code');
    for (const run_id of runs) program.notify('notifications/cancelled', { requestId: start({ run_id }).id });
    for (const session of sessions) await has(`cancelled busy-${session}`);
  });
});

describe('a run of execute_code over HTTP', () => {
  let folder: string;
  let hub: ServedHub;
  const lines = () => linesOf(join(folder, 'count'));
  const has = (line: string) => vi.waitUntil(() => lines().includes(line), { timeout: 60_000 });
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    hub = await ServedHub.start({ servers: { calls: callsServer(folder) }, args: ['--code-mode', '--notebook', 'none'] });
  }, slow);
  afterAll(async () => {
    await hub[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('ends when the agent hangs up', { tags: ['deep', 'P-391'], timeout: slow }, async () => {
    const hangUp = new AbortController();
    const headers = {
      authorization: `Bearer ${hub.ownerToken}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': modernVersion,
      'mcp-method': 'tools/call',
      'mcp-name': 'execute_code',
    };
    const params = withEnvelope({ name: 'execute_code', arguments: { code: waitFor('hung-up') } });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const asked = fetch(new URL('/mcp', hub.url), { method: 'POST', headers, body, signal: hangUp.signal }).catch(() => undefined);
    await has('wait hung-up');
    hangUp.abort();
    await asked;
    await has('cancelled hung-up');
  });

  it('has no more rights than its caller: what it may not call it neither finds nor imports nor reaches', {
    tags: ['deep', 'P-394'],
    timeout: slow,
  }, async () => {
    const { token } = await hub.grant('--door', 'agent', '--allow', 'code-mode:*', '--allow', 'calls:echo');
    const agent = toHttpCodeAgent(await openLegacyAgent(hub, () => token));
    const code = `
from generated import client
import generated.mcp.calls as calls
answers = [await client.call_tool("calls__echo", {"a": 1})]
try:
    await client.call_tool("calls__count", {"n": "forbidden"})
except Exception as error:
    answers.append(str(error))
[answers, [name for name in dir(calls) if name in ("echo", "count")]]`;
    const { status, result, texts } = await agent.execute({ code });
    expect({ status, texts }).toMatchObject({ status: 'ok' });
    expect(result).toMatch(/'a': 1[^]*denied[^]*\['echo'\]/i);
    expect(lines()).not.toContain('count forbidden');
    expect(JSON.stringify(await agent.callTool('search_tools', {}))).not.toContain('count');
    const audit = () => linesOf(join(hub.stateDir, 'audit.jsonl')).map((line) => JSON.parse(line) as JsonObject);
    const nested = () => audit().filter(({ server, tool, parent }) => server === 'calls' && parent !== undefined && tool !== 'wait');
    // The line of a call is written soon after its answer, that of the code after those of its calls.
    const executed = () => audit().flatMap(({ tool, call_id }) => (tool === 'execute_code' ? [call_id] : []));
    await expect.poll(() => executed().includes(nested()[0]?.parent)).toBe(true);
    expect(nested().map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['echo', 'ok'],
      ['count', 'denied'],
    ]);
    const without = await hub.grant('--door', 'agent', '--allow', 'calls:*');
    const other = toHttpCodeAgent(await openLegacyAgent(hub, () => without.token));
    expect(await other.names()).toEqual([]);
  });

  it("finds no session, run or execution of another's", { tags: ['P-388'], timeout: slow }, async () => {
    const grants = await Promise.all([1, 2].map(() => hub.grant('--door', 'agent', '--allow', 'code-mode:*', '--allow', 'calls:*')));
    const [mine, other] = grants.map(({ token }) => toHttpCodeAgent(openModernAgent(hub, () => token)));
    if (mine === undefined || other === undefined) throw new Error('There are two.');
    const first = await mine.execute({ code: 'secret = 42', execution_id: 'same' });
    expect(first.session).toMatch(/^[\w-]{22}$/);
    expect(first.texts.join('\n')).toContain(`session: ${first.session}`);
    expect(await other.execute({ code: 'secret', session: first.session })).toMatchObject({ code: 'session_gone' });
    const started = await mine.execute({
      code: 'import asyncio\nawait asyncio.sleep(0.5)\nsecret',
      session: first.session,
      wait_seconds: 0,
    });
    expect(await other.execute({ run_id: started.runId })).toMatchObject({ code: 'unknown_run' });
    expect(await mine.execute({ run_id: started.runId })).toMatchObject({ result: '42' });
    expect(await other.execute({ code: '"own"', execution_id: 'same' })).toMatchObject({ result: "'own'" });
    expect((await mine.execute({ code: 'secret' })).texts.join('\n')).toContain("name 'secret' is not defined");
  });
});
