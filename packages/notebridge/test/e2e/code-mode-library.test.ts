// @module-tag deep

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { codeModeTools } from '@notebridge/code-mode/code-mode-tools';
import { defaultCodeModeLimits } from '@notebridge/code-mode/execution/code-mode-limits';
import type { JsonObject } from '@notebridge/protocol/json';
import { asSchema, generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { type CodeMode, createCodeMode, MemoryToolServer, toAiSdkTools } from 'notebridge';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';
import { toCodeAnswer } from '../support/code-mode.js';
import { installedServer } from '../support/served-hub.js';

const timeout = 240_000;
const example = fileURLToPath(new URL('../../../../examples/code-mode-agent.mjs', import.meta.url));

it('the example of an agent with the AI SDK does what it says', { timeout, tags: ['P-442'] }, async () => {
  const home = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
  const { stdout } = await promisify(execFile)(process.execPath, [example], { env: { ...bareEnvironment(), HOME: home } });
  expect(stdout).toMatch(/^Done: 201 calls of tools by three of the model\. The result was checked\.$/m);
  rmSync(home, { recursive: true, force: true });
});

describe('createCodeMode', { timeout }, () => {
  let folder: string;
  let codeMode: CodeMode;
  /** What became of the calls of `wait`. */
  const waits: string[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const own = new MemoryToolServer({
      name: 'own',
      tools: [
        {
          name: 'double',
          inputSchema: { type: 'object' },
          run: async ({ n }) => ({ content: [], structuredContent: { n: Number(n) * 2 } }),
        },
        {
          name: 'wait',
          inputSchema: { type: 'object' },
          run: (_, { signal }) =>
            new Promise((_resolve, reject) => {
              waits.push('begun');
              signal.addEventListener('abort', () => {
                waits.push('aborted');
                reject(signal.reason);
              });
            }),
        },
      ],
    });
    const config = join(folder, 'mcp.json');
    const mcpServers = { everything: installedServer('everything'), own: installedServer('everything') };
    writeFileSync(config, JSON.stringify({ mcpServers, notebridge: { codeMode: { seconds: 77 } } }));
    codeMode = await createCodeMode({
      config,
      servers: [own],
      stateDir: join(folder, 'state'),
      env: { ...bareEnvironment(), HOME: folder },
    });
  }, timeout);
  afterAll(async () => {
    await codeMode.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const execute = async (args: JsonObject, options = {}) => toCodeAnswer(await codeMode.call('execute_code', args, options));

  it('has the three tools as MCP lists them, with the limits of the config, and their instructions', { tags: ['P-441'] }, () => {
    expect(codeMode.tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tools', 'execute_code']);
    const properties = codeMode.tools[2]?.inputSchema as { properties: { timeout_seconds: { maximum: number } } };
    expect(properties.properties.timeout_seconds.maximum).toBe(77);
    expect(codeMode.instructions).toContain('search_tools');
  });

  it('code calls servers of the config and of the program, whose names come first; variables stay', { tags: ['P-441'] }, async () => {
    const code = `from generated.mcp.everything import get_sum
from generated.mcp.own import double
kept = (await double(n=21))["n"]
await get_sum(a=kept, b=1)`;
    expect(await execute({ code })).toMatchObject({ status: 'ok', result: "'The sum of 42 and 1 is 43.'", calls: 2 });
    expect(await execute({ code: 'kept' })).toMatchObject({ result: '42', session: undefined });
    const { structuredContent } = await codeMode.call('search_tools', { query: 'double', server: 'own' });
    expect(structuredContent).toMatchObject({ results: [{ server: 'own', tool: 'double' }] });
  });

  it('tells progress, and stops the code and its calls when the signal does', { tags: ['P-441'] }, async () => {
    const told: JsonObject[] = [];
    const code = 'from generated.mcp.own import double\nawait double(n=1)';
    await execute({ code }, { onProgress: (progress: JsonObject) => told.push(progress) });
    // Besides it is told that the code still runs, where that takes ten seconds.
    const ofCalls = told.filter(({ message }) => String(message).includes('own.double'));
    expect(ofCalls).toEqual([
      expect.objectContaining({ progress: expect.any(Number), message: expect.stringContaining('own.double: ok') }),
    ]);
    const controller = new AbortController();
    const answer = execute({ code: 'from generated.mcp.own import wait\nawait wait()' }, { signal: controller.signal });
    const rejected = expect(answer).rejects.toMatchObject({ code: 'cancelled' });
    await vi.waitUntil(() => waits.includes('begun'), { timeout: 45_000 });
    controller.abort();
    await rejected;
    await vi.waitUntil(() => waits.includes('aborted'), { timeout: 45_000 });
    await expect(execute({ code: '1' }, { signal: controller.signal })).rejects.toMatchObject({ code: 'cancelled' });
    expect(await execute({ code: 'kept' })).toMatchObject({ result: '42' });
  });

  it('has no other tool', { tags: ['P-441'] }, async () => {
    await expect(codeMode.call('own__double', { n: 1 })).rejects.toMatchObject({ code: 'unknown_tool' });
  });

  it('gives the model of the AI SDK its schemas, images as images and failures as failures', { tags: ['P-442'] }, async () => {
    const tools = toAiSdkTools(codeMode);
    const schema = tools.execute_code?.inputSchema;
    expect(await asSchema(schema).jsonSchema).toEqual(codeModeTools({ ...defaultCodeModeLimits, seconds: 77 })[2]?.inputSchema);
    const calls = [
      'from generated.mcp.everything import get_tiny_image\n(await get_tiny_image())[1]',
      'open("/out/a.txt", "w").write("hi")\nopen("/out/b.bin", "wb").write(bytes(3))',
      'raise ValueError("oh")',
    ];
    const usage = {
      inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 0, text: 0, reasoning: 0 },
    };
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        const step = prompt.filter(({ role }) => role === 'tool').length;
        const code = calls[step];
        if (code === undefined)
          return { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] };
        const call = { type: 'tool-call', toolCallId: `${step}`, toolName: 'execute_code', input: JSON.stringify({ code }) } as const;
        return { content: [call], finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] };
      },
    });
    const { text } = await generateText({ model, tools, stopWhen: stepCountIs(5), prompt: 'Draw.' });
    expect(text).toBe('done');
    const seen = model.doGenerateCalls.at(-1)?.prompt.filter(({ role }) => role === 'tool');
    expect(seen).toMatchObject([
      {
        content: [
          {
            output: {
              type: 'content',
              value: expect.arrayContaining([expect.objectContaining({ type: 'image-data', mediaType: 'image/png' })]),
            },
          },
        ],
      },
      {
        content: [
          {
            output: {
              value: [
                { type: 'text', text: '3' },
                { type: 'text', text: 'sandbox://out/a.txt:\nhi' },
                { type: 'text', text: '[the file sandbox://out/b.bin, application/octet-stream, 3 bytes: not shown]' },
              ],
            },
          },
        ],
      },
      { content: [{ output: { type: 'error-text', value: expect.stringContaining('ValueError: oh') } }] },
    ]);
  });

  it('calls nothing after its end, which comes once', { tags: ['P-441'] }, async () => {
    const other = await createCodeMode({ stateDir: join(folder, 'other'), env: { ...bareEnvironment(), HOME: folder } });
    await Promise.all([other.close(), other.close()]);
    await expect(other.call('execute_code', { code: '1' })).rejects.toMatchObject({ code: 'closed' });
  });
});
