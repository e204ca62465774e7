// @module-tag P-381

import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it, onTestFinished } from 'vitest';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

/** A hub before a server whose tasks have the ids 1, 2, … from each start on. */
async function open(more: JsonObject = {}) {
  const servers = { a: { command: process.execPath, args: [fixtureServer('tasks.mjs')], ...more } };
  const hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
  onTestFinished(() => hub[Symbol.asyncDispose]());
  return hub;
}

/** An agent with a grant of its own, or with this token, and all that it is told besides answers. */
async function openAgent(hub: ServedHub, by?: string) {
  const token = by ?? (await hub.grant('--agent')).token;
  const accept = 'application/json, text/event-stream';
  const clientInfo = { name: 't', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await hub.request('/mcp', { token, headers: { accept }, body: { jsonrpc: '2.0', id: 1, method: 'initialize', params } });
  await opened.text();
  const session = { accept, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  let told = '';
  const stream = await hub.request('/mcp', { token, headers: session });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  const reading = (async () => {
    for (;;) {
      const { value, done } = (await reader?.read().catch(() => undefined)) ?? { value: undefined, done: true };
      if (done) return;
      told += value ?? '';
    }
  })();
  onTestFinished(async () => {
    await reader?.cancel();
    await reading;
  });
  let lastId = 1;
  const ask = async (method: string, more: JsonObject = {}): Promise<JsonObject> => {
    const body = { jsonrpc: '2.0', id: ++lastId, method, params: more };
    const text = await (await hub.request('/mcp', { token, headers: session, body })).text();
    const answers = text.startsWith('{') ? [text] : [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => data ?? '');
    return answers.map((answer) => JSON.parse(answer) as JsonObject).find(({ id }) => id === lastId) ?? {};
  };
  const begin = async (args: JsonObject): Promise<string> => {
    const answer = await ask('tools/call', { name: 'a__slow', arguments: args, task: {} });
    return ((answer.result as JsonObject).task as { taskId: string }).taskId;
  };
  return { token, ask, begin, told: () => told };
}

it('a task is none any more when its server was started anew: another agent’s of the same number is not shown for it', async () => {
  const hub = await open();
  const [one, two] = [await openAgent(hub), await openAgent(hub)];
  const mine = await one.begin({ of: 'one' });
  const { stdout } = await hub.run('servers', '--json');
  const pid = Number(/"pid": ?(\d+)/.exec(stdout)?.[1]);
  process.kill(pid, 'SIGKILL');
  await expect.poll(async () => ((await two.ask('tools/call', { name: 'a__end' })).result as JsonObject)?.content).toBeDefined();
  const theirs = await two.begin({ of: 'two' });
  await two.ask('tools/call', { name: 'a__end' });
  expect(await two.ask('tasks/result', { taskId: theirs })).toMatchObject({ result: { content: [{ text: '{"of":"two"}' }] } });
  await expect.poll(two.told).toContain(theirs);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
    expect(await one.ask(method, { taskId: mine })).toMatchObject({ error: { code: -32602 } });
  expect(await one.ask('tasks/list')).toMatchObject({ result: { tasks: [] } });
  expect(one.told()).not.toContain('tasks/status');
});

it('a task of an agent’s own program is known in its session alone, and nobody else hears of it', async () => {
  const hub = await open({ instances: 'per-agent' });
  const [one, two] = [await openAgent(hub), await openAgent(hub)];
  const again = await openAgent(hub, one.token);
  const mine = await one.begin({ of: 'one' });
  const theirs = await two.begin({ of: 'two' });
  const other = await again.begin({ of: 'again' });
  await two.ask('tools/call', { name: 'a__end' });
  await expect.poll(two.told).toContain(theirs);
  await again.ask('tools/call', { name: 'a__end' });
  await expect.poll(again.told).toContain(other);
  expect(one.told()).not.toContain('tasks/status');
  expect(again.told()).not.toContain(mine);
  expect(await one.ask('tasks/get', { taskId: mine })).toMatchObject({ result: { status: 'working' } });
  // In another session of the same principal it would be another program's task of that number.
  expect(await again.ask('tasks/get', { taskId: mine })).toMatchObject({ error: { code: -32602 } });
  expect(await again.ask('tasks/list')).toMatchObject({ result: { tasks: [{ taskId: other, status: 'completed' }] } });
});
