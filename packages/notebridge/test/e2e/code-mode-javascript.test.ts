import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/kit/json';
import { createCodeMode, MemoryToolServer, toAiSdkTools } from 'notebridge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';
import { type CodeAgent, codeDoors, toCodeAnswer, toHttpCodeAgent } from '../support/code-mode.js';
import { openLegacyAgent } from '../support/http-agent.js';
import { installedServer, ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const slow = 240_000;
const language = 'javascript';

describe.each(codeDoors)('JavaScript in code mode over $name', ({ open, hasSession }) => {
  let folder: string;
  let agent: CodeAgent;
  let handle: JsonObject = {};
  const run = async (code: string, more: JsonObject = {}) => {
    const answer = await agent.execute({ code, language, ...handle, ...more });
    if (!hasSession) handle = { session: String(answer.session ?? handle.session ?? 'new') };
    return answer;
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const calls = { command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')] };
    agent = await open({ folder, servers: { everything: installedServer('everything'), calls } });
  }, slow);
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('imports what describe_tools shows, calls at once, and answers the last expression', { timeout: slow, tags: ['P-474'] }, async () => {
    const described = await agent.callTool('describe_tools', { tools: ['everything.get-sum', 'everything.echo'], language: 'typescript' });
    const imports = JSON.stringify(described.content).match(/import \{ \w+ \} from '[^']+';/g);
    expect(imports).toHaveLength(2);
    const code = `${imports?.join('\n')}
console.log(await echo<string>({ message: "hi" }));
const sums: string[] = await Promise.all([1, 2, 3].map((n) => get_sum({ a: n, b: n })));
sums.map((text) => Number(/is (\\d+)/.exec(text)?.[1]))`;
    const { status, result, calls, texts, isError } = await run(code);
    expect({ status, result, calls, isError }).toEqual({ status: 'ok', result: '[2,4,6]', calls: 4, isError: false });
    expect(texts).toEqual(expect.arrayContaining(['Echo: hi\n', '[2,4,6]']));
  });

  it('keeps its names for the next call, beside those of Python', { timeout: slow, tags: ['P-474'] }, async () => {
    await run('let kept = 7; class Held { static value = 1 }');
    await run('kept = 8', { language: 'python' });
    expect(await run('[kept, Held.value]')).toMatchObject({ status: 'ok', result: '[7,1]' });
    expect(await run('kept', { language: 'python' })).toMatchObject({ status: 'ok', result: '8' });
    expect((await run('kept', { session: 'new' })).texts[0]).toContain("'kept' is not defined");
    if (!hasSession) handle = {};
  });

  it('says of code that fails the line, the code of a tool error, and what it had called', { timeout: slow, tags: ['P-474'] }, async () => {
    const code = `import { get_sum, echo } from "generated/mcp/everything";
await echo({ message: "sent" });

await get_sum({ a: "no number" });`;
    const { status, texts, isError, calls } = await run(code);
    expect({ status, isError, calls }).toEqual({ status: 'error', isError: true, calls: 2 });
    expect(texts[0]).toMatch(/^ToolError: get-sum \(everything\): [^]*\(code: tool_failed\)[^]*line 4: await get_sum/);
    expect(texts.at(-1)).toMatch(/- everything\.echo: ok\n- everything\.get-sum: failed/);
    const caught =
      'import { get_sum } from "generated/mcp/everything";\nlet seen; try { await get_sum({}) } catch (error) { seen = [error.name, error.code, error.tool] }\nseen';
    expect(await run(caught)).toMatchObject({ result: '["ToolError","tool_failed","get-sum"]' });
    expect((await run('import { ecko } from "generated/mcp/everything"; ecko')).texts[0]).toContain('Did you mean "echo"?');
    expect((await run('let a = (;')).texts[0]).toMatch(/SyntaxError[^]*line 1/);
  });

  it('shows images as blocks', { timeout: slow, tags: ['P-474'] }, async () => {
    const code =
      'import { get_tiny_image } from "generated/mcp/everything";\n(await get_tiny_image()).find(({ type }) => type === "image")';
    expect((await run(code)).images).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
  });

  it('answers a run_id for what takes longer, is interrupted after its time, and runs an execution_id once', {
    timeout: slow,
    tags: ['P-474'],
  }, async () => {
    const started = await run('await new Promise((resolve) => setTimeout(resolve, 1500)); "done"', { wait_seconds: 0 });
    expect(started).toMatchObject({ status: 'running', isError: false });
    expect(await agent.execute({ run_id: started.runId })).toMatchObject({ status: 'ok', result: '"done"' });
    await run('var before = 5');
    expect(await run('for (;;);', { timeout_seconds: 1 })).toMatchObject({ status: 'timeout', isError: true, code: 'timeout' });
    expect(await run('before')).toMatchObject({ result: '5' });
    const once = { execution_id: 'once' };
    const code = 'import { count } from "generated/mcp/calls"; await count({ n: "once" }); 1';
    const session = { ...handle };
    const first = await agent.execute({ code, language, ...session, ...once });
    expect(await agent.execute({ code, language, ...session, ...once })).toEqual(first);
    expect(linesOf(join(folder, 'count')).filter((line) => line === 'count once')).toHaveLength(1);
    expect(await agent.execute({ code, language: 'python', ...session, ...once })).toMatchObject({ code: 'execution_conflict' });
  });

  it.each([
    [{ language: 'ruby' }, '"language" must be one of "python", "javascript"'],
    [{ language, notebook: 'selected' }, 'in the language of its own kernel'],
  ])('refuses arguments of number %$', async (more, text) => {
    const answer = await agent.execute({ code: '1', ...more });
    expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments' });
    expect(answer.texts[0]).toContain(text);
  });
});

describe('JavaScript in code mode', () => {
  it('imports and calls what its grant allows, and is in the audit under its execute_code', {
    timeout: slow,
    tags: ['P-475'],
  }, async () => {
    await using hub = await ServedHub.start({
      servers: { everything: installedServer('everything') },
      args: ['--code-mode', '--notebook', 'none'],
    });
    const { token } = await hub.grant('--door', 'agent', '--allow', 'code-mode:*', '--allow', 'everything:echo');
    const agent = toHttpCodeAgent(await openLegacyAgent(hub, () => token));
    const code = `import * as everything from "generated/mcp/everything";
import { callTool } from "generated/client";
let refused; try { await callTool("everything", "get-sum", { a: 1, b: 2 }) } catch (error) { refused = error.code }
[Object.keys(everything), await everything.echo({ message: "x" }), refused]`;
    expect(await agent.execute({ code, language })).toMatchObject({ status: 'ok', result: '[["echo"],"Echo: x","denied"]' });
    // The line of a call is written up to 10 ms after its answer.
    const linesOfAudit = (): JsonObject[] => linesOf(join(hub.stateDir, 'audit.jsonl')).map((line) => JSON.parse(line) as JsonObject);
    const find = (): JsonObject | undefined => linesOfAudit().find(({ tool }) => tool === 'execute_code');
    await expect.poll(find).toBeDefined();
    const id = find()?.call_id;
    expect(linesOfAudit().flatMap(({ parent, tool, outcome }) => (parent === id ? [[tool, outcome]] : []))).toEqual([
      ['get-sum', 'denied'],
      ['echo', 'ok'],
    ]);
  });

  it('is passed on by createCodeMode and toAiSdkTools', { timeout: slow, tags: ['P-476'] }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const own = new MemoryToolServer({
      name: 'own',
      tools: [
        {
          name: 'double',
          inputSchema: { type: 'object' },
          run: async ({ n }) => ({ content: [], structuredContent: { n: Number(n) * 2 } }),
        },
      ],
    });
    const env = { ...bareEnvironment(), HOME: folder };
    const codeMode = await createCodeMode({ servers: [own], stateDir: join(folder, 'state'), env });
    const code = 'import { double } from "generated/mcp/own";\n(await double({ n: 21 })).n';
    expect(toCodeAnswer(await codeMode.call('execute_code', { code, language }))).toMatchObject({ status: 'ok', result: '42' });
    const { execute_code: tool } = toAiSdkTools(codeMode);
    const output = await tool?.execute({ code: 'double.server + typeof double', language });
    expect(output && toCodeAnswer(output)).toMatchObject({ result: '"ownfunction"' });
    await codeMode.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
