// @module-tag deep
// @module-tag P-403

import { writeFileSync } from 'node:fs';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { envelope, modernVersion } from '../support/agents.js';
import { EventReader } from '../support/mcp-http.js';
import { Program } from '../support/program.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer, temporaryPath } from '../support/upstreams.js';

const extension = 'io.modelcontextprotocol/tasks';
const tasksAlone = { extensions: { [extension]: {} } };
const everything = { ...tasksAlone, elicitation: { form: {} } };
const server = { command: process.execPath, args: [fixtureServer('tasks-modern.mjs')] };
/** Two that give their tasks the same ids. */
const servers = { a: server, b: server };

/** Sends a request and gives its whole answer. */
type Send = (method: string, params?: JsonObject, capabilities?: JsonObject) => Promise<JsonObject>;

interface TaskAgent {
  send: Send;
  /** Listens to tasks. Resolves when that is acknowledged, to what the next event is. */
  listen(taskIds: unknown[]): Promise<{ acknowledged: JsonObject | undefined; next: () => Promise<JsonObject | undefined> }>;
}

const toParams = (params: JsonObject, capabilities: JsonObject): JsonObject => ({
  ...params,
  _meta: { ...envelope, 'io.modelcontextprotocol/clientCapabilities': capabilities },
});

async function openOnStdio(config: ServersForTest): Promise<TaskAgent> {
  const file = temporaryPath('mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: config }));
  const program = new Program({ args: ['stdio', '--notebook', 'none', '--standalone', '--config', file] });
  onTestFinished(async () => void (await program.close()));
  const send: Send = (method, params = {}, capabilities = everything) => program.request(method, toParams(params, capabilities));
  const listen: TaskAgent['listen'] = async (taskIds) => {
    void send('subscriptions/listen', { notifications: { taskIds } }).catch(() => {});
    const acknowledged = await program.notification('notifications/subscriptions/acknowledged');
    return { acknowledged, next: () => program.notification('notifications/tasks') };
  };
  return { send, listen };
}

async function openOverHttp(config: ServersForTest, hub?: ServedHub, token?: string): Promise<TaskAgent> {
  const served = hub ?? (await serve(config));
  const post = (method: string, params: JsonObject, capabilities: JsonObject): Promise<Response> => {
    const name = params.taskId ?? params.name;
    return served.request('/mcp', {
      token: token ?? served.ownerToken,
      body: { jsonrpc: '2.0', id: 1, method, params: toParams(params, capabilities) },
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': modernVersion,
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
      },
    });
  };
  const send: Send = async (method, params = {}, capabilities = everything) => {
    const text = await (await post(method, params, capabilities)).text();
    return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')) as JsonObject;
  };
  const listen: TaskAgent['listen'] = async (taskIds) => {
    const reader = new EventReader(await post('subscriptions/listen', { notifications: { taskIds } }, everything));
    onTestFinished(() => reader.close());
    return { acknowledged: await reader.next(), next: () => reader.next() };
  };
  return { send, listen };
}

async function serve(config: ServersForTest): Promise<ServedHub> {
  const hub = await ServedHub.start({ servers: config, args: ['--notebook', 'none'] });
  onTestFinished(() => hub[Symbol.asyncDispose]());
  return hub;
}

const resultOf = (answer: JsonObject): JsonObject => (answer.result ?? expect.fail(JSON.stringify(answer))) as JsonObject;

describe.each([
  ['stdio', openOnStdio],
  ['HTTP', openOverHttp],
] as const)('tasks of servers of 2026-07-28, for an agent over %s', (_, open) => {
  it('are offered to who takes tasks, and begun under ids of ours', async () => {
    const { send } = await open(servers);
    expect(resultOf(await send('server/discover'))).toMatchObject({ capabilities: tasksAlone });
    const [one, two] = [
      resultOf(await send('tools/call', { name: 'a__slow', arguments: { n: 1 } })),
      resultOf(await send('tools/call', { name: 'b__slow', arguments: { n: 2 } })),
    ];
    expect(one).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 60_000, x: 1.5 });
    for (const { taskId } of [one, two]) expect(taskId).toMatch(/^[0-9a-f-]{36}$/);
    await send('tools/call', { name: 'b__end', arguments: {} });
    const got = resultOf(await send('tasks/get', { taskId: two.taskId }));
    const text = (value: unknown): JsonObject[] => [{ type: 'text', text: JSON.stringify(value) }];
    expect(got).toMatchObject({ taskId: two.taskId, status: 'completed', result: { content: text({ n: 2 }) } });
    expect(resultOf(await send('tasks/get', { taskId: one.taskId }))).toMatchObject({ taskId: one.taskId, status: 'working' });
    await send('tasks/cancel', { taskId: one.taskId });
    expect(resultOf(await send('tasks/get', { taskId: one.taskId }))).toMatchObject({ status: 'cancelled' });
    // The id of the server, which anybody can guess, opens nothing.
    expect(await send('tasks/get', { taskId: '1' })).toMatchObject({ error: { code: -32602 } });
  });

  it('are none for a call that does not declare them, and each request about one must', async () => {
    const { send } = await open(servers);
    const called = await send('tools/call', { name: 'a__slow', arguments: {} }, {});
    expect(resultOf(called)).toMatchObject({ resultType: 'complete', content: [{ text: 'at once' }] });
    const { taskId } = resultOf(await send('tools/call', { name: 'a__slow', arguments: {} }));
    expect(await send('tasks/get', { taskId }, {})).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: tasksAlone } },
    });
  });

  it('ask under the name of their server, are answered, and tell who listens', async () => {
    const { send, listen } = await open(servers);
    const asking = resultOf(await send('tools/call', { name: 'a__ask', arguments: {} }));
    const got = resultOf(await send('tasks/get', { taskId: asking.taskId }));
    expect(got).toMatchObject({ status: 'input_required', inputRequests: { q: { params: { message: '[a] Name?' } } } });
    const inputResponses = { q: { action: 'accept', content: { name: 'Ada' } } };
    expect(resultOf(await send('tasks/update', { taskId: asking.taskId, inputResponses }))).toMatchObject({ resultType: 'complete' });
    expect(resultOf(await send('tasks/get', { taskId: asking.taskId }))).toMatchObject({
      result: { content: [{ text: JSON.stringify(inputResponses) }] },
    });
    const { taskId } = resultOf(await send('tools/call', { name: 'b__slow', arguments: { n: 3 } }));
    const { acknowledged, next } = await listen([taskId, 'of nobody', '1']);
    expect(acknowledged).toMatchObject({ params: { notifications: { taskIds: [taskId] } } });
    await send('tools/call', { name: 'b__end', arguments: { listened: true } });
    expect(await next()).toMatchObject({ method: 'notifications/tasks', params: { taskId, status: 'completed', x: 1.5 } });
  });

  it('ask nothing that the agent did not declare, and nothing that must not be shown', async () => {
    const { send } = await open(servers);
    const { taskId } = resultOf(await send('tools/call', { name: 'a__ask', arguments: {} }));
    expect(await send('tasks/get', { taskId }, tasksAlone)).toMatchObject({ error: { data: { code: 'unanswered_question' } } });
    const question = { method: 'elicitation/create', params: { mode: 'url', message: 'Open', url: 'file:///etc/passwd' } };
    const other = resultOf(await send('tools/call', { name: 'a__ask', arguments: { question } }));
    expect(await send('tasks/get', { taskId: other.taskId })).toMatchObject({ error: { data: { code: 'unanswered_question' } } });
  });
});

it('a task of one grant is none for another, whatever it asks', async () => {
  const hub = await serve(servers);
  const grants = [await hub.grant('--door', 'agent', '--allow', 'a:*'), await hub.grant('--door', 'agent', '--allow', 'a:*')];
  const [one, two] = await Promise.all(grants.map(({ token }) => openOverHttp({}, hub, token)));
  if (one === undefined || two === undefined) expect.fail();
  const { taskId } = resultOf(await one.send('tools/call', { name: 'a__slow', arguments: {} }));
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
    expect(await two.send(method, { taskId })).toMatchObject({ error: { code: -32602 } });
  expect((await two.listen([taskId])).acknowledged).toMatchObject({ params: { notifications: {} } });
  expect(resultOf(await one.send('tasks/get', { taskId }))).toMatchObject({ status: 'working' });
});
