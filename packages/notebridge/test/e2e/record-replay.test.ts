// @module-tag deep

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { type Agent, agentKinds } from '../support/agents.js';
import { type AskedAgent, openCommand, openOnStdio } from '../support/asked-agent.js';
import { Program, programFile, runProgram } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { recordedLines, recordedMethods, recordingFolder, replayedServer } from '../support/recordings.js';
import { installedServer, ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const fixture = (file: string, ...args: string[]) => ({ command: process.execPath, args: [fixtureServer(file), ...args] });
const kinds = agentKinds.filter(({ name }) =>
  ['SDK v1', 'SDK v2, mode auto', 'SDK v2, pinned to 2026-07-28', 'raw 2024-11-05'].includes(name),
);

/** What an agent of a bug report did, with all it was told. */
async function work(agent: Agent, isSdk: boolean): Promise<JsonObject[]> {
  const progress: JsonObject[] = [];
  const call = (name: string, args?: JsonObject) => agent.callTool(name, args).catch((error: Error) => ({ error: error.message }));
  const answers = [
    { tools: await agent.listTools() },
    await call('echo', { message: 'ä "quoted" 😀' }),
    await call('echo', { message: 'ä "quoted" 😀' }),
    await call('get-sum', { a: 1.5, b: 2 }),
    await call('get-tiny-image'),
    await call('get-structured-content', { location: 'Chicago' }),
    await call('echo', { wrong: 1 }),
    await agent.callTool('trigger-long-running-operation', { duration: 0.2, steps: 2 }, { onProgress: (each) => progress.push(each) }),
    await agent.request('resources/read', { uri: 'demo://resource/none' }).catch((error: Error) => ({ error: error.message })),
    await agent.request('prompts/list', {}),
  ];
  // The SDKs lose progress that comes in one chunk with its answer, as it may in any run.
  return [...answers, isSdk ? {} : { progress }];
}

async function workAs({ name, open }: (typeof agentKinds)[number], args: string[]): Promise<JsonObject[]> {
  await using agent = await open(args);
  return await work(agent, name.startsWith('SDK'));
}

describe.each(kinds)('a session of an agent ($name) with server-everything', (kind) => {
  it('is recorded through the hub, and is the same again: what the agent saw, and the server behind a hub', {
    timeout: 180_000,
    tags: ['P-411'],
  }, async () => {
    const folder = recordingFolder();
    const file = join(folder, 'bug.jsonl');
    const config = join(folder, 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { every: installedServer('everything') } }));
    const recorded = await workAs(kind, ['record', file, '--config', config, '--server', 'every']);
    expect(recordedMethods(file, 'server:every')).toContain('tools/call');

    expect(await workAs(kind, ['replay', file])).toEqual(recorded);

    writeFileSync(config, JSON.stringify({ mcpServers: { every: replayedServer(file, 'server:every') } }));
    expect(await workAs(kind, ['record', join(folder, 'again.jsonl'), '--config', config, '--server', 'every'])).toEqual(recorded);
  });
});

describe('record FILE -- COMMAND', () => {
  it.each([
    ['of the legacy era', 'SDK v1', 'everything'],
    ['of both eras, spoken to in the modern one', 'SDK v2, pinned to 2026-07-28', 'both'],
  ])('stands before a server %s, and the replay answers the same', { tags: ['P-410'] }, async (_, kind, which) => {
    const open = agentKinds.find(({ name }) => name === kind)?.open;
    const server = which === 'both' ? fixture('both-eras.mjs') : (installedServer('everything') as { command: string; args: string[] });
    const file = join(recordingFolder(), 'bug.jsonl');
    const call = async (args: string[]): Promise<unknown> => {
      await using agent = (await open?.(args)) as Agent;
      const name = which === 'both' ? 'change' : 'get-tiny-image';
      return [await agent.listTools(), await agent.callTool(name)];
    };
    const recorded = await call(['record', file, '--', server.command, ...server.args]);
    expect(await call(['replay', file])).toEqual(recorded);
    expect(recordedMethods(file, 'agent')).toEqual([which === 'both' ? 'server/discover' : 'initialize', 'tools/list', 'tools/call']);
    expect((await runProgram(['replay', file, '--list'])).stdout).toMatch(
      which === 'both' ? /^agent +modern +2 +3 /m : /^agent +legacy +1 +3 /m,
    );
  });

  it('passes every digit, unknown keys and large strings, and so does the replay', { tags: ['P-410'] }, async () => {
    const file = join(recordingFolder(), 'bug.jsonl');
    const ask = async (args: string[]): Promise<string[]> => {
      const lines: string[] = [];
      await using program = new Program({ args, onLine: (line) => lines.push(line) });
      await program.initialize('2025-06-18');
      await program.callTool('image', { size: 3_000_000 });
      program.write('{"jsonrpc":"2.0","id":"odd","method":"tools/call","params":{"name":"none","x":1.0,"big":12345678901234567890}}');
      await program.answerTo('odd');
      return lines;
    };
    const server = fixture('large.mjs');
    const recorded = await ask(['record', file, '--', server.command, ...server.args]);
    expect(recorded.some((line) => line.length > 3_000_000)).toBe(true);
    expect(recordedLines(file)).toHaveLength(9);
    expect(await ask(['replay', file])).toEqual(recorded);
  });

  it('ends with the server, says why, and the replay says that there is no answer', async () => {
    const file = join(recordingFolder(), 'bug.jsonl');
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const script = 'process.stdin.once("data", () => process.exit(3))';
    const program = new Program({ args: ['record', file, '--', process.execPath, '-e', script] });
    program.write(JSON.stringify(request));
    expect(await program.ended).toBe(1);
    expect(program.stderr).toContain('exit code 3');
    await program.close();
    const { stdout } = await runProgram(['replay', file], { input: `${JSON.stringify(request)}\n` });
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { message: expect.stringContaining('There is no answer to this') } });
  });

  it('says so if the server cannot be started', async () => {
    const file = join(recordingFolder(), 'bug.jsonl');
    const { ending, stderr } = await runProgram(['record', file, '--', 'no-such-program']);
    expect(ending).toBe(1);
    expect(stderr).toContain('there is no program "no-such-program" (ENOENT)');
  });
});

describe('a server that asks in the middle of a call', () => {
  const eras: Era[] = ['legacy', 'modern'];
  const pairings = eras.flatMap((upstream) => eras.map((era) => ({ upstream, era })));
  const tools = ['form', 'url', 'sample', 'roots', 'twice'];
  const callAll = async (agent: AskedAgent, prefix = ''): Promise<unknown[]> => {
    const texts = [];
    for (const tool of tools) texts.push(await agent.call(`${prefix}${tool}`));
    await agent.close();
    return [...texts, agent.asked.map(({ method, params: { _meta, elicitationId: _, ...params } }) => ({ method, params }))];
  };

  it.each(pairings)(
    'a server of the $upstream era is recorded and replayed with its questions to a $era agent',
    { timeout: 180_000, tags: ['P-411'] },
    async ({ upstream, era }) => {
      const file = join(recordingFolder(), 'bug.jsonl');
      const more = { questions: 'serial' };
      const servers = { asks: { ...fixture('asks.mjs', upstream), ...more } };
      const recorded = await callAll(
        await openCommand(servers, { era }, (config) => ['record', file, '--server', 'asks', '--config', config, '--standalone']),
      );
      expect(recorded.slice(0, 5)).toEqual(['accept Ada', 'url accept', 'm: hi', 'file:///ada', 'Ada Ada']);
      expect(await callAll(await openCommand({}, { era }, () => ['replay', file]))).toEqual(recorded);
      const replayed = { asks: { ...replayedServer(file, 'server:asks'), ...more } };
      expect(await callAll(await openOnStdio(replayed, { era }), 'asks__')).toEqual(recorded);
    },
  );

  it('tells of other answers at the end, with exit code 1 if it is strict', { tags: ['P-411'] }, async () => {
    const file = join(recordingFolder(), 'bug.jsonl');
    const server = fixture('asks.mjs', 'legacy');
    const run = async (args: string[], name: string) => {
      await using program = new Program({ args });
      await program.request('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: { elicitation: {} },
        clientInfo: { name: 't', version: '1' },
      });
      program.notify('notifications/initialized');
      const called = program.callTool('form');
      await program.notification('elicitation/create');
      const [{ id } = {}] = program.notifications.filter(({ method }) => method === 'elicitation/create');
      program.write(JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name } } }));
      const answer = await called;
      return { answer: answer.result, ending: await program.close(), stderr: program.stderr };
    };
    const recorded = await run(['record', file, '--', server.command, ...server.args], 'Ada');
    const same = await run(['replay', file, '--strict'], 'Ada');
    expect(same).toMatchObject({
      answer: recorded.answer,
      ending: 0,
      stderr: expect.stringContaining('Nothing differed from the recording.'),
    });
    const other = await run(['replay', file, '--strict'], 'Bob');
    expect(other).toMatchObject({ answer: recorded.answer, ending: 1 });
    expect(other.stderr).toMatch(
      /"elicitation\/create" of line \d+ was answered in another way: "result\.content\.name" was "Ada", and is "Bob"\./,
    );
  });
});

describe('serve --record', () => {
  it('records what every caller makes of a server, whose replay answers the same', { tags: ['P-411'] }, async () => {
    const file = join(recordingFolder(), 'bug.jsonl');
    const args = ['--notebook', 'none'];
    const call = async (hub: ServedHub) => (await hub.call('every', 'get-sum', { a: 1, b: 41 }, hub.ownerToken)).answer;
    const hub = await ServedHub.start({ servers: { every: installedServer('everything') }, args: [...args, '--record', file] });
    const { result } = await call(hub);
    await hub[Symbol.asyncDispose]();
    expect(String(result)).toContain('42');
    expect(recordedLines(file).every(({ link = 'server:every' }) => link === 'server:every')).toBe(true);
    await using again = await ServedHub.start({ servers: { every: replayedServer(file, 'server:every') }, args });
    expect(await call(again)).toMatchObject({ result });
  });
});

describe('a page', () => {
  it('is recorded, and replayed as a server of the legacy era', { tags: ['P-411'] }, async () => {
    const file = join(recordingFolder(), 'bug.jsonl');
    {
      await using program = await Program.open({ args: ['record', file] });
      await using _page = await RawPage.serve({
        ...(await program.address()),
        answer: ({ method }) => (method === 'tools/call' ? { result: { content: [{ type: 'text', text: 'from the page' }] } } : undefined),
      });
      await program.callTool('get_cells');
    }
    await using replayed = await Program.open({ args: ['replay', file, '--link', 'page'] });
    expect(await replayed.callTool('get_cells')).toMatchObject({ result: { content: [{ text: 'from the page' }] } });
  });
});

it('replay behind a command of ours is a server that a config may name', async () => {
  const config = join(recordingFolder(), 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { a: { command: process.execPath, args: [programFile, 'stdio'] } } }));
  expect((await runProgram(['servers', '--config', config])).stderr).toContain('would start Notebridge from within Notebridge');
});
