// @module-tag P-371

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Caller } from '@notebridge/protocol/core/call-context';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ServerTools } from '../../src/catalog/server-tools.js';
import { createToolNaming } from '../../src/catalog/tool-naming.js';
import { Hub } from '../../src/hub.js';
import { TaskMiddleware } from '../../src/notebooks/runs/task-middleware.js';
import { envelope } from '../support/agents.js';
import { createContext } from '../support/create-context.js';
import { Program } from '../support/program.js';
import { fixtureConfig, fixtureServer, openUpstreams, temporaryPath } from '../support/upstreams.js';

const extension = 'io.modelcontextprotocol/tasks';

type Send = (method: string, message?: JsonObject) => Promise<JsonObject>;

/** Two servers that give their tasks the same ids, behind a hub. */
async function open(file = 'tasks.mjs', era: 'legacy' | 'modern' = 'legacy') {
  const { upstreams } = openUpstreams(['a', 'b'].map((name) => fixtureConfig(file, [], { name, era })));
  const provider = new ServerTools({ servers: upstreams, logger: silentLogger });
  const hub = new Hub();
  onTestFinished(() => hub.close());
  const said: ProviderEvent[] = [];
  hub.events.add((event) => said.push(event));
  hub.addMiddleware(createToolNaming(provider));
  hub.addMiddleware(new TaskMiddleware({ emit: (event) => hub.events.emit(event), servers: provider, hasRuns: false }));
  hub.addProvider(provider);
  await upstreams.start();
  const agent = async (sessionId: string, principal?: Principal, version = '2025-11-25'): Promise<Send> => {
    const caller: Caller = { sessionId, door: 'http', era: 'legacy', clientInfo: undefined, ...(principal && { principal }) };
    const send: Send = (method, message = {}) =>
      hub.request(
        createContext(method, message, { caller }),
        method === 'initialize' ? async () => ({ protocolVersion: version, capabilities: {} }) : undefined,
      );
    await send('initialize');
    return send;
  };
  return { agent, said, hub };
}

const begin = async (send: Send, tool = 'a__slow', args: JsonObject = { n: 1 }): Promise<JsonObject> =>
  (await send('tools/call', { name: tool, arguments: args, task: { ttl: 60_000, x: 1 } })).task as JsonObject;

describe('tasks of servers', () => {
  it('are offered as each server offers them', async () => {
    const send = await (await open()).agent('s');
    const { tools } = (await send('tools/list')) as { tools: { name: string; execution?: JsonObject }[] };
    expect(tools.map(({ name, execution }) => [name, execution?.taskSupport])).toEqual(
      ['a', 'b'].flatMap((server) => [
        [`${server}__end`, undefined],
        [`${server}__plain`, 'forbidden'],
        [`${server}__slow`, 'optional'],
      ]),
    );
    expect(await send('tools/call', { name: 'a__slow', arguments: {} })).toMatchObject({ content: [{ text: 'at once' }] });
  });

  it('have ids of ours, and are answered by the server that runs them', async () => {
    const { agent, said } = await open();
    const send = await agent('s');
    const [one, two] = [await begin(send, 'a__slow', { n: 1 }), await begin(send, 'b__slow', { n: 2 })];
    expect(one).toMatchObject({ status: 'working', asked: { ttl: 60_000, x: 1 }, x: 1 });
    expect(one.taskId).not.toBe('1');
    expect(await send('tasks/get', { taskId: two.taskId })).toMatchObject({ taskId: two.taskId, status: 'working', x: 1 });
    expect(await send('tasks/list')).toMatchObject({ tasks: [{ taskId: two.taskId }, { taskId: one.taskId }] });
    const result = send('tasks/result', { taskId: two.taskId });
    await send('tools/call', { name: 'b__end' });
    const related = { 'io.modelcontextprotocol/related-task': { taskId: two.taskId }, y: 1 };
    expect(await result).toEqual({ content: [{ type: 'text', text: '{"n":2}' }], _meta: related });
    const status = expect.objectContaining({ taskId: two.taskId, status: 'completed' });
    expect(said.filter(({ method }) => method === 'notifications/tasks/status')).toEqual([
      { method: 'notifications/tasks/status', params: status, sessionId: 's' },
    ]);
    expect(await send('tasks/get', { taskId: one.taskId })).toMatchObject({ status: 'working' });
    expect(await send('tasks/cancel', { taskId: one.taskId })).toMatchObject({ taskId: one.taskId, status: 'cancelled' });
  });

  it('a task that is over at once is told of all the same, after the answer', async () => {
    const { agent, said } = await open();
    const { taskId } = await begin(await agent('s'), 'a__slow', { quick: true });
    const states = () => said.filter(({ method }) => method === 'notifications/tasks/status');
    expect(states()).toEqual([]);
    await expect.poll(states).toMatchObject([{ params: { taskId, status: 'completed' }, sessionId: 's' }]);
  });

  it('are none for another principal, and cancelled by the session that began them alone', async () => {
    const { agent } = await open();
    const mine = await agent('s1', { kind: 'grant', grantId: 'g1' });
    const { taskId } = await begin(mine);
    const theirs = await agent('s2', { kind: 'grant', grantId: 'g2' });
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      await expect(theirs(method, { taskId })).rejects.toMatchObject({ code: 'bad_params' });
    expect(await theirs('tasks/list')).toEqual({ tasks: [] });
    const again = await agent('s3', { kind: 'grant', grantId: 'g1' });
    expect(await again('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    await expect(again('tasks/cancel', { taskId })).rejects.toMatchObject({ code: 'bad_params' });
    // Nor does the id of the server, which anybody can guess, open anything.
    await expect(mine('tasks/get', { taskId: '1' })).rejects.toMatchObject({ code: 'bad_params' });
  });

  it('are not translated for the modern era, which is offered none', async () => {
    const { hub } = await open();
    const caller: Caller = { sessionId: 'm', door: 'http', era: 'modern', clientInfo: undefined };
    const ask = (method: string, more: JsonObject = {}) => hub.request(createContext(method, { ...more, _meta: envelope }, { caller }));
    await ask('tools/list');
    const discovered = hub.request(createContext('server/discover', { _meta: envelope }, { caller }), async () => ({ capabilities: {} }));
    expect(await discovered).toEqual({ capabilities: {} });
    await expect(ask('tasks/get', { taskId: '1' })).rejects.toMatchObject({ code: 'unknown_method' });
  });

  it('a task of a call that cannot be one is refused by its server', async () => {
    const send = await (await open()).agent('s');
    await send('tools/list');
    await expect(begin(send, 'a__plain')).rejects.toMatchObject({ raw: { code: -32601 } });
  });
});

it('tasks of servers of 2026-07-28 have ids of ours, are of who began them alone, and ask by the name of their server', {
  tags: ['P-403'],
}, async () => {
  const { hub } = await open('tasks-modern.mjs', 'modern');
  const agent = (grantId: string, capabilities: JsonObject = { extensions: { [extension]: {} }, elicitation: { form: {} } }): Send => {
    const caller: Caller = {
      sessionId: grantId,
      door: 'http',
      era: 'modern',
      clientInfo: undefined,
      principal: { kind: 'grant', grantId },
    };
    const _meta = { ...envelope, 'io.modelcontextprotocol/clientCapabilities': capabilities };
    return (method, message = {}) =>
      hub.request(createContext(method, { ...message, _meta }, { caller, asker: { clientCapabilities: capabilities } }));
  };
  const [mine, theirs] = [agent('g1'), agent('g2')];
  const [one, two] = [await mine('tools/call', { name: 'a__slow' }), await mine('tools/call', { name: 'b__slow', arguments: { n: 2 } })];
  expect(one).toMatchObject({ resultType: 'task', status: 'working', x: 1.5 });
  for (const { taskId } of [one, two]) expect(taskId).toMatch(/^[0-9a-f-]{36}$/);
  await mine('tools/call', { name: 'b__end' });
  expect(await mine('tasks/get', { taskId: two.taskId })).toMatchObject({
    status: 'completed',
    result: { content: [{ text: '{"n":2}' }] },
  });
  for (const taskId of [one.taskId, '1']) await expect(theirs('tasks/get', { taskId })).rejects.toMatchObject({ code: 'bad_params' });
  const { taskId } = await mine('tools/call', { name: 'a__ask' });
  expect(await mine('tasks/get', { taskId })).toMatchObject({ inputRequests: { q: { params: { message: '[a] Name?' } } } });
  expect(await agent('g1', {})('tools/call', { name: 'a__slow' })).toMatchObject({ content: [{ text: 'at once' }] });
});

it('a task of a server reaches an agent of the real program', { tags: ['P-371'] }, async () => {
  const file = join(temporaryPath('tasks'), '..', 'tasks.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { a: { command: process.execPath, args: [fixtureServer('tasks.mjs')] } } }));
  await using program = new Program({ args: ['--config', file] });
  expect(await program.initialize('2025-11-25')).toMatchObject({
    result: { capabilities: { tasks: { requests: { tools: { call: {} } } } } },
  });
  const _meta = { progressToken: 'p' };
  const { result } = await program.request('tools/call', { name: 'a__slow', arguments: { n: 3 }, task: {}, _meta });
  const { taskId } = (result as { task: JsonObject }).task;
  const answered = program.request('tasks/result', { taskId });
  await program.callTool('a__end');
  expect(await answered).toMatchObject({ result: { content: [{ text: '{"n":3}' }] } });
  // Its progress goes on when the call is answered, and names the task as the agent knows it.
  expect(await program.notification('notifications/progress')).toMatchObject({
    params: { progressToken: 'p', progress: 1, _meta: { 'io.modelcontextprotocol/related-task': { taskId }, z: 1 } },
  });
  expect(await program.notification('notifications/tasks/status')).toMatchObject({ params: { taskId, status: 'completed' } });
});
