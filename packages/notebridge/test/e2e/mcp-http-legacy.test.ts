import { connect } from 'node:net';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { toTextResult } from '@notebridge/protocol/core/mcp';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createSignal, EventReader, initialize, messagesOf, openMcpHttp } from '../support/mcp-http.js';
import { requestBytes } from '../support/raw-http.js';

const resultOf = (message: JsonObject | undefined): JsonObject => (message?.result ?? {}) as JsonObject;
const textOf = (message: JsonObject | undefined): unknown => (resultOf(message).content as JsonObject[])[0]?.text;
const note = (data: unknown): JsonObject => ({ level: 'info', data });

describe('the HTTP door, legacy: sessions', () => {
  it('opens a session with initialize, and answers with its id and as JSON', { tags: ['deep'] }, async () => {
    const { post, door } = await openMcpHttp();
    const response = await post(initialize('a', '2025-06-18'));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('mcp-session-id')).toMatch(/^[\w-]{32,}$/);
    expect(await response.json()).toMatchObject({ id: 'a', result: { protocolVersion: '2025-06-18', instructions: 'For tests.' } });
    expect(door.sessions).toBe(1);
  });

  it('no provider is shown the id of a session', { tags: ['deep'] }, async () => {
    const { open, recorder, door, ended } = await openMcpHttp();
    const session = await open();
    await session.call('hello');
    const context = recorder.requests.at(-1)?.context;
    expect(JSON.stringify([context?.caller, context?.callId])).not.toContain(session.id);
    expect((await session.delete()).status).toBe(204);
    expect([door.sessions, ended]).toEqual([0, [context?.caller.sessionId]]);
    expect((await session.call('hello')).status).toBe(404);
    expect((await session.delete()).status).toBe(404);
  });

  it('keeps sessions apart: equal ids, equal progress tokens, and the answers of each', { tags: ['deep'] }, async () => {
    const { open } = await openMcpHttp();
    const sessions = await Promise.all(Array.from({ length: 20 }, () => open()));
    const answers = await Promise.all(
      sessions.map(async (session, number) => messagesOf(await session.call('arguments', { number }, { progressToken: 'same' }, 7))),
    );
    expect(answers.map(([message]) => resultOf(message).structuredContent)).toEqual(sessions.map((_, number) => ({ number })));
    const steps = await Promise.all(
      sessions.map(async (session) => messagesOf(await session.call('steps', {}, { progressToken: 'same' }, 8))),
    );
    for (const messages of steps) expect(messages.map(({ method, id }) => method ?? id)).toEqual(expectedSteps);
  });

  it('does not exist for anybody but its principal', { tags: ['P-059'] }, async () => {
    const { open } = await openMcpHttp();
    const session = await open();
    const other = { authorization: 'Bearer other' };
    expect((await session.post({ jsonrpc: '2.0', id: 2, method: 'ping' }, other)).status).toBe(404);
    expect((await session.get(other)).status).toBe(404);
    expect((await session.delete(other)).status).toBe(404);
    expect((await session.request('ping')).status).toBe(200);
  });

  it('ends a session that was idle for too long, but not one with a stream or a running call', { tags: ['deep'] }, async () => {
    let now = 0;
    const { open, test, door, ended } = await openMcpHttp({ clock: () => now, limits: { sessionIdleMs: 1000 } });
    const [idle, listening, calling] = [await open(), await open(), await open()];
    await listening.listen();
    const call = calling.call('wait');
    await test.waiting();
    now = 999;
    expect((await idle.request('ping')).status).toBe(200);
    now = 1999;
    for (const session of [idle, listening, calling]) expect((await session.request('ping')).status).toBe(session === idle ? 404 : 200);
    expect([door.sessions, ended.length]).toEqual([2, 1]);
    test.release();
    expect(textOf((await messagesOf(await call))[0])).toBe('waited {}');
  });

  it('ends an idle session by itself, so that what it holds is let go', { tags: ['deep'] }, async () => {
    const gone = createSignal<string>();
    const { open } = await openMcpHttp({ limits: { sessionIdleMs: 20 }, endSession: gone.tell });
    const session = await open();
    await gone.told;
    expect((await session.request('ping')).status).toBe(404);
  });

  it('has a limit of sessions, and makes room when one ends', { tags: ['deep'] }, async () => {
    const { open, post } = await openMcpHttp({ limits: { maxSessions: 2 } });
    const [first] = [await open(), await open()];
    const refused = await post(initialize(9));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
    expect(await refused.json()).toMatchObject({ id: 9, error: { data: { code: 'limit_reached' } } });
    await first?.delete();
    await open();
  });

  it('keeps no session whose initialize was refused', { tags: ['deep'] }, async () => {
    const { hub, post, door } = await openMcpHttp();
    hub.addMiddleware({
      onInitialize: async () => {
        throw new BridgeError('denied', 'Not you.');
      },
    });
    expect(await (await post(initialize())).json()).toMatchObject({ error: { data: { code: 'denied' } } });
    expect(door.sessions).toBe(0);
  });
});

describe('the HTTP door, legacy: answers', () => {
  it('streams what comes before an answer, then the answer, and ends', { tags: ['deep'] }, async () => {
    const { open } = await openMcpHttp();
    const response = await (await open()).call('steps', {}, { progressToken: 't' }, 7);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const messages = await messagesOf(response);
    expect(messages.map(({ method, id }) => method ?? id)).toEqual([
      'notifications/progress',
      'notifications/message',
      'notifications/progress',
      7,
    ]);
    expect(messages[0]?.params).toEqual({ progressToken: 't', progress: 1, total: 2, message: 'half' });
  });

  it('answers with plain JSON whoever takes nothing else, and with a stream whoever takes only that', { tags: ['deep'] }, async () => {
    const { open } = await openMcpHttp();
    const session = await open();
    const steps = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'steps', _meta: { progressToken: 1 } } };
    const plain = await session.post(steps, { accept: 'application/json' });
    expect(plain.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await plain.json()).toMatchObject({ id: 7, result: {} });
    const stream = await session.post({ jsonrpc: '2.0', id: 8, method: 'ping' }, { accept: 'text/event-stream' });
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await messagesOf(stream)).toEqual([{ jsonrpc: '2.0', id: 8, result: {} }]);
  });

  it('makes a stream of a call that is silent for long, so that no client gives up', { tags: ['deep'] }, async () => {
    const { open, test } = await openMcpHttp({ limits: { keepAliveMs: 20 } });
    const reader = new EventReader(await (await open()).call('wait', {}, {}, 7));
    expect(await reader.nextBlock()).toMatch(/^id: .+\nretry: 1000\ndata: $/);
    expect(await reader.nextBlock()).toBe(': keep-alive');
    test.release();
    expect(await reader.next()).toMatchObject({ id: 7, result: {} });
    expect(await reader.next()).toBeUndefined();
  });

  it('keeps numbers to the letter, both ways', { tags: ['P-072'] }, async () => {
    const { open } = await openMcpHttp();
    const body =
      '{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"result","arguments":{"result":{"n":12345678901234567890}}}}';
    const text = await (await (await open()).post(body)).text();
    expect(text).toContain('"id":1.0');
  });

  it('answers a batch with a batch, and one of notifications with nothing', { tags: ['P-360'] }, async () => {
    const { open } = await openMcpHttp();
    const session = await open({}, {}, '2025-03-26');
    const response = await session.post([
      { jsonrpc: '2.0', id: 5, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      { jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'count' } },
    ]);
    expect(((await response.json()) as JsonObject[]).map(({ id }) => id)).toEqual([5, 'x']);
    const silent = await session.post([{ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }]);
    expect([silent.status, await silent.text()]).toEqual([202, '']);
    expect((await session.post({ jsonrpc: '2.0', id: 99, result: {} })).status).toBe(202);
  });

  it('refuses a second request under the id of a running one, and the first goes on', { tags: ['deep'] }, async () => {
    const { open, test } = await openMcpHttp();
    const session = await open();
    const first = session.call('wait', {}, {}, 7);
    await test.waiting();
    const second = await session.call('hello', {}, {}, 7);
    expect([second.status, await second.json()]).toMatchObject([400, { id: 7, error: { code: -32600 } }]);
    test.release();
    expect(textOf((await messagesOf(await first))[0])).toBe('waited {}');
  });

  it('cancels when it is told to, and ends the request that waits', { tags: ['deep'] }, async () => {
    const { open, test } = await openMcpHttp();
    const session = await open();
    const call = session.call('wait', {}, {}, 7);
    await test.waiting();
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7, reason: 'enough' } });
    expect(await test.cancelled()).toBe('enough');
    const response = await call;
    expect([response.status, await response.text()]).toEqual([202, '']);
  });

  it('does not cancel when the connection breaks', { tags: ['deep'] }, async () => {
    const { open, test, recorder } = await openMcpHttp();
    const session = await open();
    const controller = new AbortController();
    const call = session.request('tools/call', { name: 'wait' }, 7, controller.signal);
    await test.waiting();
    controller.abort();
    await expect(call).rejects.toThrow();
    // The door has seen the end of the connection when it takes the id for free again only after the answer.
    expect((await session.call('hello', {}, {}, 7)).status).toBe(400);
    test.release();
    await session.request('ping');
    expect(recorder.requests.find(({ params }) => params.name === 'wait')).toMatchObject({ result: { content: [{ text: 'waited {}' }] } });
    expect((await session.call('hello', {}, {}, 7)).status).toBe(200);
  });

  it('answers what runs with an error when its session ends', { tags: ['deep'] }, async () => {
    const { open, test } = await openMcpHttp();
    const session = await open();
    const call = session.call('wait', {}, {}, 7);
    await test.waiting();
    await session.delete();
    expect(await (await call).json()).toMatchObject({ id: 7, error: { data: { code: 'closed' } } });
    await test.cancelled();
  });
});

describe('the HTTP door, legacy: streams', () => {
  it('sends changes to the stream, and keeps them while there is none', { tags: ['deep'] }, async () => {
    const { open, memory, test, hub } = await openMcpHttp();
    const session = await open();
    memory.setTools(test.tools);
    memory.setTools(test.tools);
    for (let line = 0; line < 150; line++) hub.events.emit({ method: 'notifications/message', params: note(line) });
    const reader = await session.listen();
    // What was dropped is said: the change, and 50 lines.
    expect(await reader.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(await reader.next()).toMatchObject({ params: { level: 'warning', data: expect.stringContaining('Dropped 50 notifications') } });
    expect(await reader.next()).toMatchObject({ method: 'notifications/message', params: { data: 50 } });
    for (let line = 51; line < 150; line++) await reader.next();
    memory.setTools(test.tools);
    expect(await reader.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  });

  it('keeps one of many equal changes', { tags: ['deep'] }, async () => {
    const { open, memory, test, hub } = await openMcpHttp();
    const session = await open();
    for (let change = 0; change < 3; change++) memory.setTools(test.tools);
    hub.events.emit({ method: 'notifications/message', params: note('last') });
    const reader = await session.listen();
    expect([(await reader.next())?.method, (await reader.next())?.method]).toEqual([
      'notifications/tools/list_changed',
      'notifications/message',
    ]);
  });

  it('sends each message on one stream: the newest that is open', { tags: ['deep'] }, async () => {
    const { open, hub } = await openMcpHttp();
    const session = await open();
    const [older, newer] = [await session.listen(), await session.listen()];
    hub.events.emit({ method: 'notifications/message', params: note(1) });
    expect(await newer.next()).toMatchObject({ params: { data: 1 } });
    await session.delete();
    expect(await older.rest()).toEqual([]);
    expect(await newer.rest()).toEqual([]);
  });

  it('ends the oldest of too many streams', { tags: ['deep'] }, async () => {
    const { open } = await openMcpHttp();
    const session = await open();
    const oldest = await session.listen();
    for (let more = 0; more < 4; more++) await session.listen();
    expect(await oldest.rest()).toEqual([]);
  });

  it('says on a stream that it lives', { tags: ['deep'] }, async () => {
    const { open } = await openMcpHttp({ limits: { keepAliveMs: 20 } });
    const reader = await (await open({}, {}, '2025-06-18')).listen();
    expect(await reader.nextBlock()).toBe(': keep-alive');
    expect(await reader.nextBlock()).toBe(': keep-alive');
  });

  it('cuts a stream that nobody reads, and keeps what comes after it', { tags: ['deep'] }, async () => {
    const { open, hub, listener } = await openMcpHttp({ limits: { maxUnsentBytes: 100_000 } });
    const session = await open();
    const headers = { authorization: 'Bearer good', accept: 'text/event-stream', 'mcp-session-id': session.id };
    const socket = connect(listener.port, '127.0.0.1');
    socket.write(requestBytes(listener.port, { target: '/mcp', headers }));
    await new Promise((resolve) => socket.once('readable', resolve));
    // More than the system's buffers hold: the rest would wait in ours.
    const data = 'x'.repeat(1_000_000);
    for (let line = 0; line < 30; line++) hub.events.emit({ method: 'notifications/message', params: note(data) });
    hub.events.emit({ method: 'notifications/message', params: note('after') });
    const reader = await session.listen();
    let last: JsonObject | undefined;
    do last = await reader.next();
    while (last !== undefined && (last.params as JsonObject).data !== 'after');
    expect(last).toBeDefined();
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
  });

  it('ends everything when the door closes: streams at once, then what still runs', { tags: ['deep'] }, async () => {
    const { open, door, test, post } = await openMcpHttp();
    const session = await open();
    const reader = await session.listen();
    const call = session.call('wait', {}, {}, 7);
    await test.waiting();
    const closed = door.close();
    expect(await reader.rest()).toEqual([]);
    expect((await post(initialize())).status).toBe(503);
    test.release();
    expect(textOf((await messagesOf(await call))[0])).toBe('waited {}');
    await closed;
    await door.close();
    expect(door.sessions).toBe(0);
  });

  it('sends a log line of a call with its answer, and others to the stream', { tags: ['deep'] }, async () => {
    const chatty: RunnableTool = {
      name: 'chatty',
      inputSchema: { type: 'object' },
      run: async (_, context) => {
        context.log('info', 'of the call');
        return toTextResult('done');
      },
    };
    const { open, hub } = await openMcpHttp({ tools: [chatty] });
    const session = await open();
    const reader = await session.listen();
    const messages = await messagesOf(await session.call('chatty'));
    expect(messages[0]).toMatchObject({ params: { data: 'of the call' } });
    hub.events.emit({ method: 'notifications/message', params: note('of nobody') });
    expect(await reader.next()).toMatchObject({ params: { data: 'of nobody' } });
  });
});

const expectedSteps = ['notifications/progress', 'notifications/message', 'notifications/progress', 8];
