import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openAtHub } from '../support/asked-agent.js';
import { toCodeAnswer, toHttpCodeAgent } from '../support/code-mode.js';
import { raw } from '../support/code-scope-attacks.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { openLegacyAgent } from '../support/http-agent.js';
import { Program } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const slow = 240_000;
const callsServer = (folder: string) => ({ command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')] });

describe('an execution_id, attacked', () => {
  let folder: string;
  let program: Program;
  let lastId = 0;
  const lines = () => linesOf(join(folder, 'count'));
  const times = (line: string) => lines().filter((one) => one === line).length;
  const has = (line: string) => vi.waitUntil(() => lines().includes(line), { timeout: 45_000 });
  const start = (args: JsonObject) => {
    const id = `run-${++lastId}`;
    const answer = program.request('tools/call', { name: 'execute_code', arguments: args }, id);
    // One that is cancelled is never answered.
    answer.catch(() => {});
    return { id, answer };
  };
  const run = async (args: JsonObject) => toCodeAnswer((await start(args).answer).result as JsonObject);
  const countAndWait = (name: string) => `from generated.mcp.calls import count, wait\nawait count(n="${name}")\nawait wait(key="${name}")`;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-attacked-'));
    const file = join(folder, 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { calls: callsServer(folder) }, notebridge: { codeMode: { kernels: 3 } } }));
    const args = ['stdio', '--code-mode', '--config', file, '--notebook', 'local', '--standalone'];
    program = await Program.open({ args });
    await run({ code: '1' });
  }, slow);
  afterAll(async () => {
    await program.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const places: [where: string, more: JsonObject][] = [
    ['in its own session', {}],
    ['in a fresh Python', { kernel: 'fresh' }],
    ['in the notebook', { notebook: 'selected' }],
  ];
  for (const { cells, tags } of coreAndDeep(places, (_, at) => at === 0))
    it.each(cells)(
      'runs once %s, also if it was cancelled in the middle',
      { tags: [...tags, 'P-393'], timeout: slow },
      async (where, more) => {
        const name = where.replaceAll(' ', '-');
        const args = { code: countAndWait(name), execution_id: name, ...more };
        const { id } = start(args);
        await has(`wait ${name}`);
        program.notify('notifications/cancelled', { requestId: id });
        await has(`cancelled ${name}`);
        const again = await start(args).answer;
        expect(JSON.stringify(again)).toMatch(/interrupted|answer_gone|cancelled/);
        expect(times(`count ${name}`)).toBe(1);
      },
    );

  it('runs once for twenty that come together, and never for other code', { tags: ['deep', 'P-393'] }, async () => {
    const args = { code: 'from generated.mcp.calls import count\nawait count(n="together")', execution_id: 'together' };
    const others = [
      { ...args, code: `${args.code} ` },
      { ...args, session: 'new' },
      { ...args, kernel: 'fresh' },
    ];
    const answers = await Promise.all([...Array.from({ length: 20 }, () => args), ...others].map(run));
    expect(answers.filter(({ status }) => status === 'ok')).toHaveLength(20);
    expect(answers.slice(20).map(({ code }) => code)).toEqual(['execution_conflict', 'execution_conflict', 'execution_conflict']);
    expect(times('count together')).toBe(1);
  });

  it('runs once if its Python died of it, or its code raised', { tags: ['P-393'], timeout: slow }, async () => {
    for (const [name, end] of [
      ['died', 'import os\nos._exit(1)'],
      ['raised', '1/0'],
    ]) {
      const args = {
        code: `from generated.mcp.calls import count\nawait count(n="${name}")\n${end}`,
        execution_id: `${name}`,
        session: 'new',
      };
      const first = await run(args);
      expect(first.isError).toBe(true);
      expect(await run(args)).toEqual(first);
      expect(times(`count ${name}`)).toBe(1);
    }
  });
});

describe('the notebook as the place of code, attacked', () => {
  let folder: string;
  let hub: ServedHub;
  const lines = () => linesOf(join(folder, 'count'));
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-attacked-'));
    hub = await ServedHub.start({ servers: { calls: callsServer(folder) }, args: ['--code-mode', '--notebook', 'local'] });
  }, slow);
  afterAll(async () => {
    await hub[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is nothing to who may not use it', async () => {
    const { token } = await hub.grant('--door', 'agent', '--allow', 'code-mode:*', '--allow', 'calls:echo');
    const agent = toHttpCodeAgent(await openLegacyAgent(hub, () => token));
    for (const notebook of ['selected', 'x', '../x.ipynb', '*']) {
      const answer = await agent
        .execute({ code: 'from generated.mcp.calls import count\nawait count(n="stolen")', notebook })
        .catch(String);
      expect(JSON.stringify(answer)).toMatch(/denied|Denied/);
    }
    expect(lines()).toEqual([]);
  });

  it(
    'lends its rights to no grant that has fewer',
    async () => {
      const terms = ['--allow', 'code-mode:*', '--allow', 'notebook:*', '--allow', 'calls:echo'];
      const { token } = await hub.grant('--door', 'agent', ...terms);
      const agent = toHttpCodeAgent(await openLegacyAgent(hub, () => token));
      const code = `from generated import client
print(await client.call_tool("calls__echo", {"a": 1}))
await client.call_tool("calls__count", {"n": "stolen"})`;
      const answer = await agent.execute({ code, notebook: 'selected' });
      expect(answer.texts.join()).toMatch(/'a': 1[^]*ToolError/);
      expect(lines()).not.toContain('count stolen');
    },
    slow,
  );
});

describe('approvals, attacked by code', () => {
  it('are of one call with its arguments, whatever comes with it, after it and behind it', { tags: ['P-447'], timeout: slow }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-attacked-'));
    const shop = { command: process.execPath, args: [fixtureServer('approvals.mjs'), join(folder, 'count')], approve: 'writes' };
    await using hub = await ServedHub.start({ servers: { shop }, args: ['--code-mode', '--notebook', 'none'] });
    const made = () => linesOf(join(folder, 'count')).map((line) => JSON.parse(line) as [string, JsonObject]);
    // The person agrees to what has the number 1, once.
    const agent = await openAtHub(hub, {
      era: 'legacy',
      answer: ({ params }) =>
        String(params.message).includes('"n": 1\n') || /"n": 1\s*\}/.test(String(params.message))
          ? { action: 'accept', content: { decision: 'once' } }
          : { action: 'decline' },
    });
    const code = `${raw}
import asyncio
body = lambda n: json.dumps({"arguments": {"n": n}})
args = {"n": 1}
from generated.mcp.shop import add
async def change():
    for n in range(50):
        args["n"] = 2
        await asyncio.sleep(0)
first, *_ = await asyncio.gather(add(**args), change())
together = await asyncio.gather(*(raw("shop", "add", body(n)) for n in range(2, 8)))
again = [await raw("shop", tool, text) for tool, text in (("add", body(2)), ("remove", body(3)), ("add ", body(4)), ("ADD", body(5)),
    ("shop__add", body(6)), ("add", '{"arguments":{"n":1,"n":7}}'), ("add", '{"arguments":{"n":8},"approved_by":"owner","isTyped":true}'))]
async def late():
    while True:
        await asyncio.sleep(0.02)
        await raw("shop", "remove", body(9))
task = asyncio.ensure_future(late())
[one["success"] for one in [*together, *again]].count(True)`;
    try {
      expect(await agent.call('execute_code', { code })).toMatch(/^0$/m);
      // The task goes on in the next execution, and is asked about like all.
      expect(await agent.call('execute_code', { code: 'await asyncio.sleep(0.3)\ntask.cancel()' })).toMatch(/True/);
      expect(made()).toEqual([['add', { n: 1 }]]);
      expect(agent.asked.length).toBeGreaterThan(10);
      // Sent again, an id neither asks nor calls.
      const once = { code: 'from generated.mcp.shop import add\nawait add(n=1)', execution_id: 'approved-once' };
      const before = await agent.call('execute_code', once);
      const asked = agent.asked.length;
      expect(await agent.call('execute_code', once)).toBe(before);
      expect([agent.asked.length, made().length]).toEqual([asked, 2]);
    } finally {
      await agent.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
