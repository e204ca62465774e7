// @module-tag deep

import type { ToolResult } from '@notebridge/protocol/core/mcp';
import type { JsonObject } from '@notebridge/protocol/json';
import { parseFrame } from '@notebridge/protocol/rpc/messages';
import { describe, expect, it } from 'vitest';
import { modernVersion, withEnvelope } from '../support/agents.js';
import { createSignal, EventReader, messagesOf, type OpenMcpHttp, openMcpHttp } from '../support/mcp-http.js';

const subscriptionKey = 'io.modelcontextprotocol/subscriptionId';

async function listen({ ask }: OpenMcpHttp, notifications: JsonObject, id: unknown = 'l', headers = {}): Promise<EventReader> {
  const reader = new EventReader(await ask('subscriptions/listen', { notifications }, { id, headers }));
  expect(await reader.next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged', params: { notifications } });
  return reader;
}

async function refusalOf(response: Response): Promise<[number, unknown, unknown]> {
  const { id, error } = (await response.json()) as JsonObject;
  return [response.status, (error as JsonObject).code, id];
}

describe('the HTTP door, modern', () => {
  it('answers each request by itself, without a session', async () => {
    const { ask, door } = await openMcpHttp();
    const response = await ask('tools/call', { name: 'hello', arguments: { name: 'you' } }, { id: 'x' });
    expect([response.status, response.headers.get('mcp-session-id')]).toEqual([200, null]);
    expect(await response.json()).toMatchObject({ id: 'x', result: { resultType: 'complete', content: [{ text: 'Hello, you!' }] } });
    expect(await (await ask('server/discover')).json()).toMatchObject({ result: { supportedVersions: [modernVersion] } });
    expect(door.sessions).toBe(0);
  });

  it('keeps requests apart that have the same id and the same progress token', async () => {
    const { ask } = await openMcpHttp();
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, number) => (await ask('tools/call', { name: 'arguments', arguments: { number } })).json()),
    );
    expect(answers.map((each) => ((each as JsonObject).result as JsonObject).structuredContent)).toEqual(
      answers.map((_, number) => ({ number })),
    );
    const steps = await Promise.all(
      Array.from({ length: 20 }, async () => messagesOf(await ask('tools/call', { name: 'steps', _meta: { progressToken: 1 } }))),
    );
    for (const messages of steps) {
      // Without a log level in its envelope a request gets no log lines.
      expect(messages.map(({ method, id }) => method ?? id)).toEqual(['notifications/progress', 'notifications/progress', 1]);
    }
  });

  it('gives every call an id of its own, and all calls of a principal one session', async () => {
    const { ask, recorder } = await openMcpHttp();
    for (const authorization of ['Bearer good', 'Bearer good', 'Bearer other'])
      await ask('tools/call', { name: 'hello' }, { headers: { authorization } });
    const contexts = recorder.requests.map(({ context }) => context);
    expect(new Set(contexts.map(({ callId }) => callId)).size).toBe(3);
    const [first, second, other] = contexts.map(({ caller }) => caller.sessionId);
    expect([second === first, other === first]).toEqual([true, false]);
  });

  it('gives the session of a principal back when nobody has called under it for long', async () => {
    let now = 0;
    const done = createSignal<string>();
    const { ask, recorder, test } = await openMcpHttp({ clock: () => now, limits: { sessionIdleMs: 40 }, endSession: done.tell });
    const running = ask('tools/call', { name: 'wait' });
    await test.waiting();
    now = 1000;
    test.release();
    await (await running).json();
    now = 2000;
    expect(await done.told).toBe(recorder.requests[0]?.context.caller.sessionId);
  });

  it('answers what cannot be printed with why, drops such progress, and fails as the hub does', async () => {
    let deep: unknown = 0;
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    const inputSchema = { type: 'object' };
    const { ask } = await openMcpHttp({
      tools: [
        { name: 'deep', inputSchema, run: async () => ({ content: [], structuredContent: { deep } }) },
        {
          name: 'deep steps',
          inputSchema,
          run: async (_, context) => {
            context.forwardProgress({ progress: 1, deep });
            return { content: [] };
          },
        },
        { name: 'nothing', inputSchema, run: async () => undefined as never },
      ],
    });
    const answerOf = async (name: string, more = {}): Promise<unknown> => (await ask('tools/call', { name, ...more })).json();
    expect(await answerOf('deep')).toMatchObject({ error: { message: expect.stringContaining('nested too deeply') } });
    const steps = messagesOf(await ask('tools/call', { name: 'deep steps', _meta: { progressToken: 1 } }));
    expect(await steps).toMatchObject([{ result: { content: [] } }]);
    expect(await answerOf('nothing')).toMatchObject({ error: { message: 'Internal error', data: { call_id: expect.any(String) } } });
  });

  it('passes on a string of megabytes as it came, and as a middleware has changed it', async () => {
    const long = 'é\\u00e9\\n'.repeat(100_000);
    const line = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${long}"}]}}`);
    const run = async (): Promise<ToolResult> => (parseFrame(line) as { result: ToolResult }).result;
    const { ask, hub, open } = await openMcpHttp({ tools: [{ name: 'long', inputSchema: { type: 'object' }, run }] });
    const session = await open();
    const both = async (): Promise<string[]> => {
      const responses = [await ask('tools/call', { name: 'long' }), await session.call('long')];
      return Promise.all(responses.map((response) => response.text()));
    };
    for (const text of await both()) expect(text).toContain(`"text":"${long}"`);
    hub.addMiddleware({
      onCallTool: async (context, callNext) => {
        const result = await callNext(context);
        for (const block of result.content ?? []) block.text = String(block.text).slice(-2);
        return result;
      },
    });
    for (const text of await both()) expect(text).toContain('"content":[{"type":"text","text":"é\\n"}]');
  });

  it('cancels the call whose connection is closed, and no other', async () => {
    const { ask, test } = await openMcpHttp();
    const other = ask('tools/call', { name: 'wait', arguments: { other: true } });
    await test.waiting();
    const controller = new AbortController();
    const call = ask('tools/call', { name: 'wait' }, { signal: controller.signal });
    await test.waiting();
    controller.abort();
    await expect(call).rejects.toThrow();
    await test.cancelled();
    test.release();
    expect(await (await other).json()).toMatchObject({ result: { content: [{ text: 'waited {"other":true}' }] } });
  });

  it('sends changes to whoever listens, under the id of the listen', async () => {
    const open = await openMcpHttp();
    const [tools, notes] = [
      await listen(open, { toolsListChanged: true }, 'a'),
      await listen(open, { resourceSubscriptions: ['note://1'] }, 'b'),
    ];
    open.memory.setTools(open.test.tools);
    expect(await tools.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: { [subscriptionKey]: 'a' } },
    });
    open.hub.events.emit({ method: 'notifications/resources/updated', params: { uri: 'note://1' } });
    expect(await notes.next()).toMatchObject({ params: { uri: 'note://1', _meta: { [subscriptionKey]: 'b' } } });
  });

  it('tells the listens of a principal of a change that one of its calls brought about', async () => {
    const open = await openMcpHttp();
    open.hub.addMiddleware({
      onListPrompts: async (context, callNext) => {
        context.sendToolListChanged();
        return callNext(context);
      },
    });
    const own = await listen(open, { toolsListChanged: true });
    const other = await listen(open, { toolsListChanged: true }, 'o', { authorization: 'Bearer other' });
    await open.ask('prompts/list');
    expect(await own.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    open.memory.setTools(open.test.tools);
    // Had it been told twice, the end would not come next.
    expect(await other.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    await open.door.close();
    expect(await other.rest()).toMatchObject([{ id: 'o', result: {} }]);
  });

  it('stops watching when a listen is hung up', async () => {
    const open = await openMcpHttp();
    const reader = await listen(open, { resourceSubscriptions: ['note://1'] });
    expect(open.recorder.requests.map(({ method }) => method)).toContain('resources/subscribe');
    const stopped = createSignal<string>();
    open.hub.addMiddleware({
      onMessage: async (context, callNext) => {
        if (context.method === 'resources/unsubscribe') stopped.tell(String(context.message.uri));
        return callNext(context);
      },
    });
    await reader.close();
    expect(await stopped.told).toBe('note://1');
  });

  it('answers the listens when the door closes', async () => {
    const open = await openMcpHttp();
    const reader = await listen(open, { toolsListChanged: true }, 7);
    await open.door.close();
    expect(await reader.rest()).toMatchObject([{ id: 7, result: { _meta: { [subscriptionKey]: 7 } } }]);
  });

  it('has limits of listens and of calls, and the rest is unharmed', async () => {
    const open = await openMcpHttp({ limits: { maxListens: 1, maxInFlight: 1 } });
    await listen(open, { toolsListChanged: true });
    const refused = await open.ask('subscriptions/listen', { notifications: {} });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    const call = open.ask('tools/call', { name: 'wait' });
    await open.test.waiting();
    expect(await refusalOf(await open.ask('tools/call', { name: 'hello' }, { id: 5 }))).toEqual([503, -32015, 5]);
    open.test.release();
    expect((await call).status).toBe(200);
    expect((await open.ask('tools/call', { name: 'hello' })).status).toBe(200);
  });

  it('takes notifications and answers nothing', async () => {
    const { post } = await openMcpHttp();
    const response = await post(
      { jsonrpc: '2.0', method: 'notifications/x' },
      { 'mcp-protocol-version': modernVersion, 'mcp-method': 'notifications/x' },
    );
    expect([response.status, await response.text()]).toEqual([202, '']);
  });

  it('decodes a name that does not fit into a header', async () => {
    const { ask } = await openMcpHttp();
    const header = (name: string) => `=?base64?${Buffer.from(name).toString('base64')}?=`;
    const call = (name: string, headerValue: string) =>
      ask('tools/call', { name, arguments: {} }, { headers: { 'mcp-name': headerValue } });
    expect(await (await call('hello', header('hello'))).json()).toMatchObject({ result: {} });
    expect(await (await call('größe', header('größe'))).json()).toMatchObject({ error: { code: -32602, data: { code: 'unknown_tool' } } });
    expect(await refusalOf(await call('hello', header('other')))).toEqual([400, -32020, 1]);
    expect(await refusalOf(await call('hello', '=?base64?%%?='))).toEqual([400, -32020, 1]);
    expect(await refusalOf(await call('hello', '=?base64?gICA?='))).toEqual([400, -32020, 1]);
  });
});

describe('the HTTP door, modern: what is refused', () => {
  const cases: { name: string; method?: string; params?: JsonObject; headers?: Record<string, string | undefined>; expected: number[] }[] =
    [
      {
        name: 'a version in the header that the body does not name',
        headers: { 'mcp-protocol-version': '2025-11-25' },
        expected: [400, -32020],
      },
      { name: 'no version in the header', headers: { 'mcp-protocol-version': undefined }, expected: [400, -32020] },
      { name: 'a method in the header that the body does not name', headers: { 'mcp-method': 'tools/list' }, expected: [400, -32020] },
      { name: 'no method in the header', headers: { 'mcp-method': undefined }, expected: [400, -32020] },
      { name: 'a name in the header that the body does not name', headers: { 'mcp-name': 'Hello' }, expected: [400, -32020] },
      { name: 'no name in the header', headers: { 'mcp-name': undefined }, expected: [400, -32020] },
      { name: 'an unknown method', method: 'no/such', params: {}, expected: [404, -32601] },
      { name: 'a method of the other era', method: 'initialize', params: {}, expected: [404, -32601] },
      {
        name: 'a resource that is not there, with status 200',
        method: 'resources/read',
        params: { uri: 'no://1' },
        expected: [200, -32602],
      },
      { name: 'capabilities that are none', params: { name: 'hello', _meta: capabilities('none') }, expected: [400, -32602] },
      {
        name: 'a version that is not served',
        params: { name: 'hello', _meta: { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' } },
        headers: { 'mcp-protocol-version': '2030-01-01' },
        expected: [400, -32022],
      },
      {
        name: 'a listen that takes no stream',
        method: 'subscriptions/listen',
        headers: { accept: 'application/json' },
        expected: [406, -32600],
      },
    ];

  it.each(cases)('a request is refused: $name', async ({ method = 'tools/call', params = { name: 'hello' }, headers = {}, expected }) => {
    const { ask } = await openMcpHttp();
    expect(await refusalOf(await ask(method, params, { id: 'r', headers }))).toEqual([...expected, 'r']);
  });

  it('a modern header over a body without an envelope, which is not taken for legacy', async () => {
    const { post } = await openMcpHttp();
    const headers = { 'mcp-protocol-version': modernVersion };
    expect(await refusalOf(await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers))).toEqual([400, -32602, 1]);
    expect(await refusalOf(await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }, headers))).toEqual([400, -32020, 1]);
  });

  it('batches, GET and DELETE', async () => {
    const { post, url } = await openMcpHttp();
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: withEnvelope() };
    expect(await refusalOf(await post([message]))).toEqual([400, -32600, null]);
    for (const method of ['GET', 'DELETE']) {
      const headers = { authorization: 'Bearer good', accept: 'text/event-stream', 'mcp-protocol-version': modernVersion };
      const response = await fetch(url, { method, headers });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'OPTIONS, POST']);
    }
  });
});

function capabilities(value: unknown): JsonObject {
  return { 'io.modelcontextprotocol/clientCapabilities': value };
}
