// @module-tag deep

import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';

const legacyVersions = ['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

describe('initialize', () => {
  it.each(legacyVersions)('agrees on %s and says who answers', async (version) => {
    await using program = new Program();
    expect(await program.initialize(version)).toMatchObject({
      result: {
        protocolVersion: version,
        capabilities: {
          tools: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
          prompts: { listChanged: true },
          completions: {},
          logging: {},
        },
        serverInfo: { name: 'notebridge', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
        instructions: "Connects to a user's Google Colab session in a browser and allows for interactions with their Google Colab notebook",
      },
    });
  });

  it.each(['2026-07-28', '1999-01-01', undefined, 7])('answers the newest legacy version to %j', async (protocolVersion) => {
    await using program = new Program();
    expect(await program.request('initialize', { protocolVersion, capabilities: {} })).toMatchObject({
      result: { protocolVersion: '2025-11-25' },
    });
  });

  it('is not demanded: an agent that asks at once is answered', async () => {
    await using program = new Program();
    expect(await program.request('ping')).toEqual({ jsonrpc: '2.0', id: 't1', result: {} });
    expect(await program.request('tools/list')).toMatchObject({ result: { tools: expect.any(Array) } });
  });
});

describe('list_changed', () => {
  it('comes unasked, once for each change and once for each word of the page', async () => {
    await using program = await Program.open();
    const address = await program.address();
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    // Colab says it before its handshake; that it connected says so anyway.
    const page = await RawPage.serve({ ...address, first: [JSON.stringify(changed)] });
    await program.request('ping');
    expect(program.notifications).toEqual([changed]);
    page.send({ ...changed, params: { _meta: { why: 'a cell ran' } } });
    page.send({ jsonrpc: '2.0', method: 'notifications/prompts/list_changed' });
    await program.notification('notifications/prompts/list_changed');
    expect(program.notifications.slice(1)).toEqual([
      { ...changed, params: { _meta: { why: 'a cell ran' } } },
      { jsonrpc: '2.0', method: 'notifications/prompts/list_changed' },
    ]);
    await page.close();
    await program.notification('notifications/tools/list_changed', 2);
    await program.request('ping');
    expect(program.notifications).toHaveLength(4);
  });
});

describe('logging', () => {
  const log = (level: string): JsonObject => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level, data: { of: level } } });

  it('passes log lines of the page from the level up that the agent has set', async () => {
    await using program = await Program.open();
    await using page = await RawPage.serve(await program.address());
    await program.request('ping');
    program.notifications.length = 0;
    page.send(log('debug'));
    await program.notification('notifications/message');
    expect(await program.request('logging/setLevel', { level: 'warning' })).toMatchObject({ result: {} });
    for (const level of ['debug', 'info', 'notice', 'warning', 'emergency', 'of the future']) page.send(log(level));
    await program.until(() => program.countOf('notifications/message') === 4);
    expect(program.notifications).toEqual([log('debug'), log('warning'), log('emergency'), log('of the future')]);
  });

  it.each([{}, { level: 'loud' }, { level: 3 }])('refuses the level of %j', async (params) => {
    await using program = await Program.open();
    expect(await program.request('logging/setLevel', params)).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('"level" must be one of debug, info') },
    });
  });
});

describe('requests', () => {
  const answers: Record<string, JsonObject> = {
    'resources/list': { result: { resources: [{ uri: 'cell://1', name: 'cell', size: 3, x: 1 }], nextCursor: 'more' } },
    'resources/templates/list': { result: { resourceTemplates: [{ uriTemplate: 'cell://{id}', name: 'cells' }] } },
    'resources/read': { result: { contents: [{ uri: 'cell://1', blob: 'AAAA', mimeType: 'x/y', annotations: { priority: 0.5 } }] } },
    'resources/subscribe': { result: {} },
    'resources/unsubscribe': { result: { _meta: { gone: true } } },
    'prompts/list': { result: { prompts: [{ name: 'p', arguments: [{ name: 'a', required: true, x: null }] }] } },
    'prompts/get': { result: { description: 'd', messages: [{ role: 'user', content: { type: 'text', text: 't' } }] } },
    'completion/complete': { result: { completion: { values: ['a', 'b'], total: 2, hasMore: false } } },
    'x/of-the-future': { result: { anything: ['goes', { deep: null }] } },
    'x/refused': { error: { code: -32601, message: 'Method not found', data: { mine: true }, extra: [1] } },
  };

  it.each(Object.keys(answers))('a request of %s goes to the page and its answer comes back, both unchanged', async (method) => {
    await using program = await Program.open();
    await using page = await RawPage.serve({ ...(await program.address()), answer: (request) => answers[String(request.method)] });
    const params = { uri: 'cell://1', name: 'p', arguments: { a: 'b' }, ref: { type: 'ref/prompt', name: 'p' }, x: [null] };
    expect(await program.request(method, params, 'mine')).toEqual({ jsonrpc: '2.0', id: 'mine', ...answers[method] });
    expect((await page.message(method)).params).toEqual(params);
  });

  it('lists are empty without a page, and the rest says what to do', async () => {
    await using program = await Program.open();
    expect(await program.request('resources/list')).toMatchObject({ result: { resources: [] } });
    expect(await program.request('resources/templates/list')).toMatchObject({ result: { resourceTemplates: [] } });
    expect(await program.request('prompts/list')).toMatchObject({ result: { prompts: [] } });
    for (const method of ['resources/read', 'prompts/get', 'completion/complete', 'x/of-the-future']) {
      expect(await program.request(method, {})).toMatchObject({
        error: {
          code: -32006,
          message: `No notebook page is connected, so "${method}" cannot be answered.`,
          data: { code: 'not_connected' },
        },
      });
    }
  });

  it('updates of resources and unknown notifications pass, both ways', async () => {
    await using program = await Program.open();
    await using page = await RawPage.serve(await program.address());
    const update = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'cell://1', title: 'x' } };
    page.send(update);
    expect(await program.notification('notifications/resources/updated')).toEqual(update);
    page.send({ jsonrpc: '2.0', method: 'notifications/x', params: { a: [1, null] } });
    expect((await program.notification('notifications/x')).params).toEqual({ a: [1, null] });
    program.notify('notifications/roots/list_changed');
    program.notify('notifications/y', { b: { c: 1 } });
    expect((await page.message('notifications/y')).params).toEqual({ b: { c: 1 } });
    expect(page.messages.map(({ method }) => method)).toContain('notifications/roots/list_changed');
    expect(page.messages.filter(({ method }) => method === 'notifications/initialized')).toHaveLength(1);
  });

  it.each(['null', '{}', undefined])('params that are %s ask for the same', async (params) => {
    await using program = await Program.open();
    for (const method of ['tools/list', 'ping', 'initialize', 'prompts/list']) {
      program.write(`{"jsonrpc":"2.0","id":"${method}","method":"${method}"${params === undefined ? '' : `,"params":${params}`}}`);
      expect(await program.answerTo(method)).toMatchObject({ result: expect.any(Object) });
    }
  });

  it('a batch is answered by one array, faults and errors included', async () => {
    const lines: string[] = [];
    await using program = await Program.open({ onLine: (line) => lines.push(line) });
    program.write(
      '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":2,"method":"logging/setLevel"}]',
    );
    await program.until(() => lines.some((line) => line.startsWith('[')));
    const batch = JSON.parse(lines.find((line) => line.startsWith('[')) ?? '') as JsonObject[];
    expect(batch).toHaveLength(2);
    expect(batch).toEqual(
      expect.arrayContaining([
        { jsonrpc: '2.0', id: 1, result: {} },
        expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32602 }) }),
      ]),
    );
  });
});

describe('calls', () => {
  it('progress that shares a frame burst with the answer comes before it, under the token of the agent', { tags: ['P-057'] }, async () => {
    const lines: string[] = [];
    await using program = await Program.open({ onLine: (line) => lines.push(line) });
    await using page = await RawPage.serve({
      ...(await program.address()),
      answer: ({ method, params }, self) => {
        if (method !== 'tools/call') return undefined;
        const { progressToken } = (params as JsonObject)._meta as JsonObject;
        for (const progress of [1, 2, 3]) {
          self.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, x: { y: progress } } });
        }
        return { result: { content: [] } };
      },
    });
    await program.notification('notifications/tools/list_changed');
    for (const progressToken of ['text', 0, 7, '']) {
      lines.length = 0;
      await program.callTool('run_code_cell', {}, { progressToken, other: 'stays' });
      expect(lines.map((line) => JSON.parse(line) as JsonObject)).toEqual([
        ...[1, 2, 3].map((progress) => ({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, progress, x: { y: progress } },
        })),
        { jsonrpc: '2.0', id: expect.any(String), result: { content: [] } },
      ]);
    }
    const sent = page.messages.filter(({ method }) => method === 'tools/call').map(({ params }) => (params as JsonObject)._meta);
    expect(sent.every((meta) => (meta as JsonObject).other === 'stays')).toBe(true);
  });

  it('a cancelled call is not answered, and a cancellation of nothing is nothing', { tags: ['P-057'] }, async () => {
    await using program = await Program.open();
    await using page = await RawPage.serve(await program.address());
    program.write('{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"run_code_cell","arguments":{}}}');
    const { id } = await page.message('tools/call');
    for (const requestId of ['77', 78, null, {}, undefined]) program.notify('notifications/cancelled', { requestId });
    program.notify('notifications/cancelled');
    program.notify('notifications/cancelled', { requestId: 77, reason: 'enough' });
    const { params } = await page.message('notifications/cancelled');
    expect(params).toEqual({ requestId: id, reason: expect.stringContaining('enough') });
    // The page answers all the same; nobody waits for it.
    page.send({ jsonrpc: '2.0', id, result: { content: [] } });
    await program.until(() => program.stderr.includes('No call waits'));
    await program.request('ping');
    expect(program.notifications.filter((message) => message.id === 77)).toEqual([]);
    expect(page.messages.filter(({ method }) => method === 'notifications/cancelled')).toHaveLength(1);
  });

  it('an answer of the agent that nobody asked for is not answered', async () => {
    await using program = await Program.open();
    program.write('{"jsonrpc":"2.0","id":1,"result":{}}');
    program.write('{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}');
    await program.request('ping');
    expect(program.notifications).toEqual([]);
  });

  it('2,000 answers that nobody asked for are one line of the log', { tags: ['P-398'] }, async () => {
    const program = await Program.open();
    for (let id = 1; id <= 2000; id++) program.write(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    expect(await program.request('ping')).toMatchObject({ result: {} });
    await program.close();
    expect(program.stderr.split('\n').filter((line) => line.includes('could not be used'))).toHaveLength(1);
  });

  it('a page that nests deeper than can be printed costs only its own message', async () => {
    await using program = await Program.open();
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    await using page = await RawPage.serve({
      ...(await program.address()),
      answer: ({ method }) => (method === 'tools/call' ? `"result":{"content":[],"deep":${deep}}` : undefined),
    });
    page.send(`{"jsonrpc":"2.0","method":"notifications/x","params":{"deep":${deep}}}`);
    expect(await program.callTool('get_cells')).toMatchObject({ error: { code: -32001, data: { code: 'message_too_deep' } } });
    expect(await program.request('ping')).toMatchObject({ result: {} });
  });
});
