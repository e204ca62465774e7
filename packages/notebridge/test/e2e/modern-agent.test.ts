// @module-tag deep

import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { envelope, modernVersion, withEnvelope } from '../support/agents.js';
import { addressIn, Program } from '../support/program.js';
import { type PageAnswer, RawPage } from '../support/raw-page.js';

const serverInfoKey = 'io.modelcontextprotocol/serverInfo';
const subscriptionKey = 'io.modelcontextprotocol/subscriptionId';
const serverInfo = { name: 'notebridge', title: 'Notebridge', version: expect.any(String) };

describe('server/discover', () => {
  it('says what is served, and can be kept for no time', async () => {
    await using program = new Program();
    expect(await program.request('server/discover', withEnvelope())).toMatchObject({
      result: {
        resultType: 'complete',
        supportedVersions: [modernVersion],
        capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true } },
        instructions: expect.stringContaining('Google Colab'),
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [serverInfoKey]: serverInfo },
      },
    });
  });

  it('decides nothing: the agent may still open a legacy session', async () => {
    await using program = new Program();
    await program.request('server/discover', withEnvelope());
    expect(await program.initialize('2025-06-18')).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
    await using _page = await RawPage.serve(await program.address());
    expect(await program.notification('notifications/tools/list_changed')).toBeDefined();
  });
});

describe('the envelope', () => {
  it.each(['2025-11-25', '2027-01-01', '', 7, null])(
    'an envelope with the version %j is refused, naming what is served',
    async (version) => {
      await using program = new Program();
      const params = { _meta: { ...envelope, 'io.modelcontextprotocol/protocolVersion': version } };
      expect(await program.request('tools/list', params)).toMatchObject({
        error: { code: -32022, message: 'Unsupported protocol version', data: { supported: [modernVersion] } },
      });
    },
  );

  it.each([{}, { is: null }, { is: [] }, { is: 'x' }])(
    'an envelope with the client capabilities %j is refused',
    async ({ is: capabilities }) => {
      await using program = new Program();
      const params = { _meta: { ...envelope, 'io.modelcontextprotocol/clientCapabilities': capabilities } };
      expect(await program.request('tools/list', params)).toMatchObject({
        error: { code: -32602, message: expect.stringContaining('clientCapabilities') },
      });
    },
  );

  it('an envelope with an unknown log level is refused', async () => {
    await using program = new Program();
    expect(await program.request('tools/list', { _meta: { ...envelope, 'io.modelcontextprotocol/logLevel': 'loud' } })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('logLevel') },
    });
  });

  it('stays here: the page, of the legacy era, sees the rest alone', async () => {
    const { program, page } = await openWithPage(() => ({ result: { content: [] } }));
    await using _closing = program;
    await program.request('tools/call', withEnvelope({ name: 'a', arguments: { _meta: envelope }, _meta: { traceparent: '00-1' } }));
    await program.request('tools/call', withEnvelope({ name: 'b' }));
    const calls = page.messages.filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ params }) => params)).toEqual([
      { name: 'a', arguments: { _meta: envelope }, _meta: { traceparent: '00-1' } },
      { name: 'b' },
    ]);
  });

  it('settles the era: initialize is refused from then on', async () => {
    await using program = new Program();
    expect(await program.request('tools/list', withEnvelope())).toMatchObject({ result: { resultType: 'complete' } });
    expect(await program.request('initialize', { protocolVersion: '2025-11-25', capabilities: {} })).toMatchObject({
      error: { code: -32022, data: { supported: [modernVersion], requested: '2025-11-25' } },
    });
  });

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])(
    'the method %s is gone',
    async (method) => {
      await using program = new Program();
      expect(await program.request(method, withEnvelope({ level: 'info' }))).toMatchObject({ error: { code: -32601 } });
    },
  );
});

describe('results', () => {
  it.each(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'])(
    'a result of %s says how long it holds',
    async (method) => {
      await using program = new Program();
      expect(await program.request(method, withEnvelope())).toMatchObject({
        result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta: { [serverInfoKey]: serverInfo } },
      });
    },
  );

  it('the result of a call is stamped and else unchanged; what the page has stamped stands', async () => {
    const results: Record<string, JsonObject> = {
      'tools/call': { content: [{ type: 'x/future', y: null }], structuredContent: { a: 1 }, isError: true, _meta: { mine: [1] } },
      'resources/read': { contents: [], ttlMs: 60_000, cacheScope: 'public' },
      'prompts/get': { messages: [], resultType: 'of the page' },
    };
    const { program } = await openWithPage(({ method }) => ({ result: results[String(method)] }));
    await using _closing = program;
    expect(await program.request('tools/call', withEnvelope({ name: 'a' }))).toMatchObject({
      result: { resultType: 'complete', ...results['tools/call'], _meta: { mine: [1], [serverInfoKey]: serverInfo } },
    });
    const { result } = await program.request('tools/call', withEnvelope({ name: 'a' }));
    expect(result).not.toHaveProperty('ttlMs');
    expect(await program.request('resources/read', withEnvelope({ uri: 'a:b' }))).toMatchObject({ result: results['resources/read'] });
    expect(await program.request('prompts/get', withEnvelope({ name: 'a' }))).toMatchObject({ result: results['prompts/get'] });
  });

  it('an error passes, but a missing resource has the code of this era', async () => {
    const { program } = await openWithPage(({ method }) =>
      method === 'resources/read'
        ? { error: { code: -32002, message: 'gone', data: { uri: 'a:b' }, extra: 1 } }
        : { error: { code: -32601, message: 'never heard of it', extra: [] } },
    );
    await using _closing = program;
    expect(await program.request('resources/read', withEnvelope({ uri: 'a:b' }), 1)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32602, message: 'gone', data: { uri: 'a:b' }, extra: 1 },
    });
    expect(await program.request('x/unknown', withEnvelope(), 2)).toEqual({
      jsonrpc: '2.0',
      id: 2,
      error: { code: -32601, message: 'never heard of it', extra: [] },
    });
  });
});

describe('progress and log lines', () => {
  it('progress comes to the call that asked; log lines of the page belong to no call and stay', async () => {
    const { program } = await openWithPage(({ params }, page) => {
      const { progressToken } = ((params as JsonObject)._meta ?? {}) as JsonObject;
      page.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: 'x' } });
      if (progressToken !== undefined)
        page.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } });
      return { result: { content: [] } };
    });
    await using _closing = program;
    await program.request('tools/call', withEnvelope({ name: 'a', _meta: { progressToken: 'p' } }));
    await program.request('tools/call', withEnvelope({ name: 'b' }));
    expect(program.notifications).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } },
    ]);
  });
});

describe('subscriptions/listen', () => {
  const acknowledged = 'notifications/subscriptions/acknowledged';
  const toolsChanged = 'notifications/tools/list_changed';

  it('is the only way on which changes come, each under the id of its listen', async () => {
    await using program = new Program();
    const address = await modernAddress(program);
    const first = await RawPage.serve(address);
    await program.request('tools/list', withEnvelope());
    expect(program.notifications).toEqual([]);

    listen(program, 'tools', { toolsListChanged: true, promptsListChanged: false, xChanged: true });
    listen(program, 5, { promptsListChanged: true, toolsListChanged: true });
    await program.until(() => program.countOf(acknowledged) === 2);
    expect(program.notifications.map(({ params }) => params)).toEqual([
      { notifications: { toolsListChanged: true }, _meta: { [subscriptionKey]: 'tools' } },
      { notifications: { toolsListChanged: true, promptsListChanged: true }, _meta: { [subscriptionKey]: 5 } },
    ]);
    program.notifications.length = 0;
    first.send({ jsonrpc: '2.0', method: 'notifications/prompts/list_changed', params: { x: 1, _meta: { y: 2 } } });
    first.send({ jsonrpc: '2.0', method: 'notifications/resources/list_changed' });
    await first.close();
    await program.until(() => program.countOf(toolsChanged) === 2);
    expect(program.notifications).toEqual([
      { jsonrpc: '2.0', method: 'notifications/prompts/list_changed', params: { x: 1, _meta: { y: 2, [subscriptionKey]: 5 } } },
      { jsonrpc: '2.0', method: toolsChanged, params: { _meta: { [subscriptionKey]: 'tools' } } },
      { jsonrpc: '2.0', method: toolsChanged, params: { _meta: { [subscriptionKey]: 5 } } },
    ]);
  });

  it('ends by cancellation without an answer, and then nothing more comes', async () => {
    await using program = new Program();
    const address = await modernAddress(program);
    listen(program, 'one', { toolsListChanged: true });
    await program.notification(acknowledged);
    program.notify('notifications/cancelled', withEnvelope({ requestId: 'one' }));
    await using _page = await RawPage.serve(address);
    await program.request('tools/list', withEnvelope());
    expect(program.countOf(toolsChanged)).toBe(0);
    // The id is free again.
    listen(program, 'one', { toolsListChanged: true });
    await program.notification(acknowledged, 1);
  });

  it.each([
    ['stdin closes', (program: Program) => void program.child.stdin.end()],
    ['the program is told to end', (program: Program) => void program.child.kill('SIGTERM')],
  ])('is answered when %s', async (_name, end) => {
    await using program = new Program();
    listen(program, 'last', { toolsListChanged: true });
    await program.notification(acknowledged);
    const answer = program.answerTo('last');
    end(program);
    expect(await answer).toEqual({
      jsonrpc: '2.0',
      id: 'last',
      result: { resultType: 'complete', _meta: { [subscriptionKey]: 'last', [serverInfoKey]: serverInfo } },
    });
    expect(await program.ended).toBe(0);
  });

  it.each([{}, { notifications: null }, { notifications: [] }])('a subscription with %j is refused', async (params) => {
    await using program = new Program();
    expect(await program.request('subscriptions/listen', withEnvelope(params))).toMatchObject({ error: { code: -32602 } });
  });

  it('has a page of the legacy era watch the resources that are named, for as long as someone listens', async () => {
    const { program, page } = await openWithPage(({ method }) => (String(method).startsWith('resources/') ? { result: {} } : undefined));
    await using _closing = program;
    const [a, b] = ['cell://a', 'cell://b'];
    listen(program, 1, { resourceSubscriptions: [a, b, a] });
    listen(program, 2, { resourceSubscriptions: [b] });
    await program.until(() => program.countOf(acknowledged) === 2);
    await page.message('resources/subscribe', 1);
    for (const uri of [a, b, 'cell://c']) page.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } });
    await program.until(() => program.countOf('notifications/resources/updated') === 3);
    expect(program.notifications.slice(2).map(({ params }) => params)).toEqual([
      { uri: a, _meta: { [subscriptionKey]: 1 } },
      { uri: b, _meta: { [subscriptionKey]: 1 } },
      { uri: b, _meta: { [subscriptionKey]: 2 } },
    ]);
    program.notify('notifications/cancelled', { requestId: 1 });
    await page.message('resources/unsubscribe');
    program.notify('notifications/cancelled', { requestId: 2 });
    await page.message('resources/unsubscribe', 1);
    const asked = page.messages.filter(({ method }) => String(method).startsWith('resources/'));
    expect(asked.map(({ method, params }) => [method, (params as JsonObject).uri])).toEqual([
      ['resources/subscribe', a],
      ['resources/subscribe', b],
      ['resources/unsubscribe', a],
      ['resources/unsubscribe', b],
    ]);
  });
});

function listen(program: Program, id: string | number, notifications: JsonObject): void {
  const params = withEnvelope({ notifications });
  program.write(JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params }));
}

async function modernAddress(program: Program): Promise<{ port: number; token: string }> {
  const call = { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } };
  return addressIn(await program.request('tools/call', withEnvelope(call)));
}

async function openWithPage(answer: (request: JsonObject, page: RawPage) => PageAnswer): Promise<{ program: Program; page: RawPage }> {
  const program = new Program();
  const page = await RawPage.serve({
    ...(await modernAddress(program)),
    answer: (request, self) => (request.method === 'initialize' ? undefined : answer(request, self)),
  });
  return { program, page };
}
