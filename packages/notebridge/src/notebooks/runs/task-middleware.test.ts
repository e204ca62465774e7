import type { Caller } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { codeOf } from '@notebridge/protocol/core/errors';
import { toTextResult } from '@notebridge/protocol/core/mcp';
import { MemoryProvider } from '@notebridge/protocol/core/memory-provider';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { beforeEach, describe, expect, it } from 'vitest';
import { envelope } from '../../../test/support/agents.js';
import { createContext } from '../../../test/support/create-context.js';
import { Hub } from '../../hub.js';
import { TaskMiddleware } from './task-middleware.js';

const waiting = { type: 'object', properties: { cellId: {}, wait_seconds: {} } };
const extension = 'io.modelcontextprotocol/tasks';
const declared = { ...envelope, 'io.modelcontextprotocol/clientCapabilities': { extensions: { [extension]: {} } } };

let hub: Hub;
let said: ProviderEvent[];
/** Ends the run that goes on. */
let release: (value: JsonObject) => void;
let calls: JsonObject[];

beforeEach(() => {
  hub = new Hub();
  said = [];
  calls = [];
  hub.events.add((event) => said.push(event));
  hub.addMiddleware(new TaskMiddleware({ emit: (event) => hub.events.emit(event) }));
  const run = async (args: JsonObject) => {
    calls.push(args);
    return toTextResult(JSON.stringify(await new Promise<JsonObject>((resolve) => (release = resolve))));
  };
  const other = { name: 'other', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' }, run };
  const follow = { name: 'get_run', inputSchema: { type: 'object' }, run };
  hub.addProvider(new MemoryProvider({ tools: [{ name: 'run_code_cell', inputSchema: waiting, run }, other, follow] }));
});

/** An agent of 2025-11-25, or of the modern era. */
function agent(sessionId: string, { era = 'legacy', principal }: { era?: Caller['era']; principal?: Principal } = {}) {
  const caller: Caller = { sessionId, door: 'http', era, clientInfo: undefined, ...(principal && { principal }) };
  const send = (method: string, message: JsonObject = {}, cancellation = new Cancellation()): Promise<JsonObject> => {
    const params = era === 'modern' ? { _meta: declared, ...message } : message;
    const initialized = method === 'initialize' ? async () => ({ protocolVersion: '2025-11-25', capabilities: {} }) : undefined;
    return hub.request(createContext(method, params, { caller, cancellation }), initialized);
  };
  const open = async (): Promise<typeof send> => {
    if (era === 'legacy') await send('initialize');
    await send('tools/list');
    return send;
  };
  return open();
}

const grant = (grantId: string): Principal => ({ kind: 'grant', grantId });
const runCall = { name: 'run_code_cell', arguments: { cellId: 'a' } };
const taskOf = (answer: JsonObject): JsonObject => answer.task as JsonObject;

describe('tasks of 2025-11-25', () => {
  it('are declared, with the tools that can be one', { tags: ['deep'] }, async () => {
    const send = await agent('s');
    const { tools } = (await send('tools/list')) as { tools: { name: string; execution?: JsonObject }[] };
    expect(tools.map(({ name, execution }) => [name, execution?.taskSupport])).toEqual([
      ['run_code_cell', 'optional'],
      ['other', 'forbidden'],
      ['get_run', undefined],
    ]);
    await expect(send('tools/call', { name: 'other', task: {} })).rejects.toMatchObject({ code: 'unknown_method' });
  });

  it('give what the call would have given, and tell of it', { tags: ['P-307'] }, async () => {
    const send = await agent('s');
    const task = taskOf(await send('tools/call', { ...runCall, task: { ttl: 90_000 } }));
    expect(task).toMatchObject({ taskId: expect.any(String), status: 'working', ttl: 90_000, createdAt: expect.any(String) });
    expect(calls[0]).toEqual({ cellId: 'a', wait_seconds: 3600 });
    const result = send('tasks/result', { taskId: task.taskId });
    release({ outputs: [1] });
    const related = { 'io.modelcontextprotocol/related-task': { taskId: task.taskId } };
    expect(await result).toEqual({ ...toTextResult('{"outputs":[1]}'), _meta: related });
    expect(await send('tasks/get', { taskId: task.taskId })).toMatchObject({ status: 'completed' });
    expect(said).toContainEqual(expect.objectContaining({ method: 'notifications/tasks/status', sessionId: 's' }));
  });

  it('wait for a run beyond what one call may wait, and answer in the form of the call', { tags: ['deep'] }, async () => {
    const send = await agent('s');
    const { taskId } = taskOf(await send('tools/call', { ...runCall, task: {} }));
    const result = send('tasks/result', { taskId });
    release({ status: 'running', run_id: 'x-1', outputs: [] });
    await expect.poll(() => calls.length).toBe(2);
    expect(calls[1]).toEqual({ run_id: 'x-1', wait_seconds: 3600 });
    release({ status: 'ok', run_id: 'x-1', outputs: [2] });
    expect(await result).toMatchObject(toTextResult('{"outputs":[2]}'));
  });

  it('are asked for with a task alone, in a session that knows them', { tags: ['deep'] }, async () => {
    const caller: Caller = { sessionId: 'old', door: 'http', era: 'legacy', clientInfo: undefined };
    const called = hub.request(createContext('tools/call', { ...runCall, task: {} }, { caller }));
    await expect.poll(() => calls.length).toBe(1);
    release({ outputs: [] });
    expect(await called).toEqual(toTextResult('{"outputs":[]}'));
  });
});

describe('a task of another principal', () => {
  it.each(['legacy', 'modern'] as const)('is none, however it is asked for: %s', { tags: ['P-309'] }, async (era) => {
    const mine = await agent('s1', { era, principal: grant('g1') });
    const theirs = await agent('s2', { era, principal: grant('g2') });
    const begun = await mine('tools/call', era === 'legacy' ? { ...runCall, task: {} } : { ...runCall, arguments: { wait_seconds: 0 } });
    const taskId = era === 'legacy' ? taskOf(begun).taskId : begun.taskId;
    const methods = era === 'legacy' ? ['tasks/get', 'tasks/result', 'tasks/cancel'] : ['tasks/get', 'tasks/update', 'tasks/cancel'];
    for (const method of methods) await expect(theirs(method, { taskId })).rejects.toMatchObject({ code: 'bad_params' });
    if (era === 'legacy') expect(await theirs('tasks/list')).toEqual({ tasks: [] });
    expect(await mine('tasks/get', { taskId })).toMatchObject({ status: 'working' });
  });

  it('is seen by the same principal in another session', { tags: ['P-309'] }, async () => {
    const { taskId } = taskOf(await (await agent('s1', { principal: grant('g') }))('tools/call', { ...runCall, task: {} }));
    const other = await agent('s2', { principal: grant('g') });
    expect(await other('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    // It is another agent, which may hold nothing: to stop a run takes the notebook.
    await expect(other('tasks/cancel', { taskId })).rejects.toMatchObject({
      code: 'bad_params',
      message: expect.stringContaining('interrupt_run'),
    });
    expect(await other('tasks/get', { taskId })).toMatchObject({ status: 'working' });
  });

  it('is cancelled by the same principal where there are no sessions', { tags: ['deep'] }, async () => {
    const begun = await (await agent('m1', { era: 'modern', principal: grant('g') }))('tools/call', {
      ...runCall,
      arguments: { wait_seconds: 0 },
    });
    expect(await (await agent('m2', { era: 'modern', principal: grant('g') }))('tasks/cancel', { taskId: begun.taskId })).toEqual({});
  });
});

describe('the extension', () => {
  it('makes a task of a run that takes long, and none of one that is answered in time', { tags: ['deep'] }, async () => {
    const send = await agent('m', { era: 'modern' });
    const quick = send('tools/call', runCall);
    release({ outputs: [1] });
    expect(await quick).toEqual(toTextResult('{"outputs":[1]}'));
    const task = await send('tools/call', { ...runCall, arguments: { cellId: 'a', wait_seconds: 0 } });
    expect(task).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 3_600_000, pollIntervalMs: 1000 });
    release({ outputs: [2] });
    await expect
      .poll(() => send('tasks/get', { taskId: task.taskId }))
      .toMatchObject({
        status: 'completed',
        result: toTextResult('{"outputs":[2]}'),
      });
    expect(said).toContainEqual({ method: 'notifications/tasks', params: await send('tasks/get', { taskId: task.taskId }) });
    expect(await send('tasks/cancel', { taskId: task.taskId })).toEqual({});
  });

  it('makes none for a request that does not declare it, and refuses its methods with what is missing', { tags: ['P-308'] }, async () => {
    const send = await agent('m', { era: 'modern' });
    const plain = send('tools/call', { ...runCall, arguments: { wait_seconds: 0 }, _meta: envelope });
    release({ outputs: [] });
    expect(await plain).toEqual(toTextResult('{"outputs":[]}'));
    const missing = { code: 'missing_capability', data: { requiredCapabilities: { extensions: { [extension]: {} } } } };
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      await expect(send(method, { taskId: 'x', _meta: envelope })).rejects.toMatchObject(missing);
    await expect(send('subscriptions/listen', { notifications: { taskIds: [] }, _meta: envelope })).rejects.toMatchObject(missing);
    for (const method of ['tasks/list', 'tasks/result']) expect(await send(method, { taskId: 'x' }).catch(codeOf)).toBe('unknown_method');
  });
});

it('a cancelled task stays cancelled, and its run is asked to stop', { tags: ['deep'] }, async () => {
  const send = await agent('s');
  const { taskId } = taskOf(await send('tools/call', { ...runCall, task: {} }));
  expect(await send('tasks/cancel', { taskId })).toMatchObject({ taskId, status: 'cancelled' });
  release({ outputs: [] });
  await expect(send('tasks/cancel', { taskId })).rejects.toMatchObject({ code: 'bad_params' });
  await expect(send('tasks/result', { taskId })).rejects.toMatchObject({ code: 'cancelled' });
  expect(await send('tasks/list')).toMatchObject({ tasks: [{ taskId, status: 'cancelled' }] });
});
