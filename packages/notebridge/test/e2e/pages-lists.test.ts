// @module-tag P-164
// @module-tag P-045

import { Client as ClientV2, InMemoryTransport as InMemoryV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as InMemoryV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { Bridge } from '../support/bridge.js';
import { type PageAnswer, RawPage } from '../support/raw-page.js';

const openTool = 'open_colab_browser_connection';
const inputSchema = { type: 'object' };
const profileTools = ['add_code_cell', 'add_text_cell', 'get_cells', 'run_code_cell', 'update_cell', 'move_cell', 'delete_cell'];

/** A page whose answer to `tools/list` has this text as result. */
function listing(result: string): (request: JsonObject) => PageAnswer {
  return ({ method, params }) => {
    if (method === 'tools/list') return `"result":${result}`;
    return method === 'tools/call' ? { result: { content: [{ type: 'text', text: JSON.stringify(params) }] } } : undefined;
  };
}

const toolsResult = (...tools: unknown[]): string => JSON.stringify({ tools });
const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

describe('the list of tools', () => {
  it("is the profile's before any page, the page's own while it is there, and what it was afterwards", { tags: ['P-038'] }, async () => {
    await using bridge = await Bridge.open({ graceMs: 0 });
    expect(await bridge.agent.toolNames()).toEqual([openTool, ...profileTools]);
    const own = { name: 'own', inputSchema, 'x-unknown': { kept: [1.5] }, annotations: { readOnlyHint: true, 'x-hint': 'y' } };
    const page = await RawPage.serve({ ...bridge.address, answer: listing(JSON.stringify({ tools: [own], 'x-top': 1 })) });
    const { result } = await bridge.agent.request('tools/list');
    expect(result).toMatchObject({ 'x-top': 1, tools: [{ name: openTool }, own] });
    await page.close();
    expect(await bridge.agent.toolNames()).toEqual([openTool, 'own']);
  });

  it('keeps hints that nobody knows, of any type, beside those that are known', async () => {
    await using bridge = await Bridge.open();
    const annotations = {
      readOnlyHint: true,
      futureHint: 'x',
      countHint: 3,
      listHint: [null],
      deepHint: { a: 1 },
      nullHint: null,
      Hint: 1,
    };
    await using _page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult({ name: 'own', inputSchema, annotations })) });
    const { result } = await bridge.agent.request('tools/list');
    expect(result).toMatchObject({ tools: [{ name: openTool }, { name: 'own', annotations }] });
    for (const [Client, Transport] of [
      [ClientV1, InMemoryV1],
      [ClientV2, InMemoryV2],
    ] as const) {
      const client = new Client({ name: 'sdk', version: '1' });
      const [here, there] = Transport.createLinkedPair();
      await Promise.all([bridge.host.connect(there), client.connect(here)]);
      expect((await client.listTools()).tools[1]?.annotations).toMatchObject({ readOnlyHint: true });
      await client.close();
    }
  });

  it.each(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint', 'title'])(
    'loses of the annotations of a tool the %s that is of the wrong type',
    async (key) => {
      await using bridge = await Bridge.open();
      const own = { name: 'own', inputSchema, annotations: { [key]: 1, readOnlyHint: key === 'readOnlyHint' ? 'yes' : true } };
      await using _page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult(own)) });
      const { result } = await bridge.agent.request('tools/list');
      const annotations = key === 'readOnlyHint' ? {} : { readOnlyHint: true };
      expect((result as { tools: unknown[] }).tools[1]).toEqual({ name: 'own', inputSchema, annotations });
    },
  );

  it('is only the open tool without a page when it is dynamic', { tags: ['P-038'] }, async () => {
    await using bridge = await Bridge.open({ list: 'dynamic' });
    expect(await bridge.agent.toolNames()).toEqual([openTool]);
    await using page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult({ name: 'own', inputSchema })) });
    expect(await bridge.agent.toolNames()).toEqual([openTool, 'own']);
    await page.close();
    expect(await bridge.agent.toolNames()).toEqual([openTool]);
    expect(await bridge.agent.request('tools/call', { name: 'own' })).toMatchObject({ error: { code: -32602 } });
  });

  it.each([
    ['no array', '{"tools":{"0":{"name":"a"}}}', [openTool]],
    ['missing', '{}', [openTool]],
    ['null', '{"tools":null}', [openTool]],
    ['an empty array', '{"tools":[]}', [openTool]],
    [
      'full of things that are no tools',
      toolsResult(null, 1, 'x', [], {}, { name: 1 }, { name: '' }, { name: 'ok', inputSchema }),
      [openTool, 'ok'],
    ],
    [
      'full of tools without a usable schema',
      toolsResult(
        { name: 'a' },
        { name: 'b', inputSchema: null },
        { name: 'c', inputSchema: { type: 'string' } },
        { name: 'd', inputSchema: { type: 'object', properties: [] } },
        { name: 'e', inputSchema: { type: 'object', properties: { x: 1 } } },
        { name: 'f', inputSchema: { type: 'object', required: 'x' } },
        { name: 'g', inputSchema: { properties: {} } },
      ),
      // All but one that is of no object can be made valid.
      [openTool, 'a', 'b', 'd', 'e', 'f', 'g'],
    ],
    [
      'full of names with control and invisible characters',
      toolsResult(
        ...['a\nb', '\u001b[31mred', 'nul\u0000', 'right\u202eleft', 'zero\u200bwidth', '\ud800'].map((name) => ({ name, inputSchema })),
      ),
      [openTool],
    ],
    [
      'of names that are too long',
      toolsResult({ name: 'x'.repeat(129), inputSchema }, { name: 'x'.repeat(128), inputSchema }),
      [openTool, 'x'.repeat(128)],
    ],
    [
      'of one name twice',
      toolsResult({ name: 'a', inputSchema, title: 'first' }, { name: 'a', inputSchema, title: 'second' }),
      [openTool, 'a'],
    ],
    ['of our own name', toolsResult({ name: openTool, inputSchema, description: 'evil' }, { name: 'a', inputSchema }), [openTool, 'a']],
    [
      'of a tool that is too large',
      toolsResult({ name: 'a', inputSchema, description: 'x'.repeat(300_000) }, { name: 'b', inputSchema }),
      [openTool, 'b'],
    ],
    [
      'of a tool that is too deep',
      `{"tools":[{"name":"a","inputSchema":{"type":"object","x":${deep}}},{"name":"b","inputSchema":{"type":"object"}}]}`,
      [openTool, 'b'],
    ],
    ['beside something too deep', `{"x":${deep},"tools":[{"name":"b","inputSchema":{"type":"object"}}]}`, [openTool, 'b']],
    [
      'with members of the wrong kind',
      toolsResult({
        name: 'a',
        inputSchema,
        title: 1,
        description: null,
        annotations: { readOnlyHint: 'yes' },
        outputSchema: 'x',
        icons: [1],
        execution: [],
        _meta: 'x',
      }),
      [openTool, 'a'],
    ],
    ['with a cursor that is no text', '{"tools":[],"nextCursor":{"a":1}}', [openTool]],
  ])('a list that is %s leaves agents of both SDKs with what is usable', async (_kind, result, expected) => {
    await using bridge = await Bridge.open();
    await using _page = await RawPage.serve({ ...bridge.address, answer: listing(result) });
    expect(await bridge.agent.toolNames()).toEqual(expected);
    const v1 = new ClientV1({ name: 'v1', version: '1' });
    const [v1Here, v1There] = InMemoryV1.createLinkedPair();
    await Promise.all([bridge.host.connect(v1There), v1.connect(v1Here)]);
    expect((await v1.listTools()).tools.map(({ name }) => name)).toEqual(expected);
    const v2 = new ClientV2({ name: 'v2', version: '1' });
    const [v2Here, v2There] = InMemoryV2.createLinkedPair();
    await Promise.all([bridge.host.connect(v2There), v2.connect(v2Here)]);
    expect((await v2.listTools()).tools.map(({ name }) => name)).toEqual(expected);
    await Promise.all([v1.close(), v2.close()]);
  });

  it('a list of 100,000 tools is cut', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    const tools = Array.from({ length: 100_000 }, (_, index) => ({ name: `t${index}`, inputSchema }));
    await using _page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult(...tools)) });
    expect(await bridge.agent.toolNames()).toHaveLength(1001);
  });

  it.each([
    ['an error', (): PageAnswer => ({ error: { code: -32601, message: 'I list nothing' } })],
    ['a text', (): PageAnswer => '"result":"tools"'],
    ['its own end', (_: JsonObject, page: RawPage): PageAnswer => void page.socket.terminate()],
  ])('a list that is answered with %s is that of a page which is not there', async (_kind, answer) => {
    await using bridge = await Bridge.open();
    await using _page = await RawPage.serve({
      ...bridge.address,
      answer: (request, page) => (request.method === 'tools/list' ? answer(request, page) : undefined),
    });
    expect(await bridge.agent.toolNames()).toEqual([openTool, ...profileTools]);
  });

  it('may have pages of its own; ours stands on the first, and errors of later ones pass', async () => {
    await using bridge = await Bridge.open();
    const answer = ({ method, params }: JsonObject): PageAnswer => {
      if (method !== 'tools/list') return undefined;
      const { cursor } = (params ?? {}) as JsonObject;
      if (cursor === undefined) return { result: { tools: [{ name: 'a', inputSchema }], nextCursor: 'two' } };
      return cursor === 'two'
        ? { result: { tools: [{ name: 'b', inputSchema }] } }
        : { error: { code: -32602, message: 'no such cursor' } };
    };
    const page = await RawPage.serve({ ...bridge.address, answer });
    const list = async (params?: JsonObject): Promise<JsonObject> => bridge.agent.request('tools/list', params);
    expect(await list()).toMatchObject({ result: { tools: [{ name: openTool }, { name: 'a' }], nextCursor: 'two' } });
    expect(await list({ cursor: 'two' })).toMatchObject({ result: { tools: [{ name: 'b' }] } });
    expect(await list({ cursor: 'three' })).toMatchObject({ error: { code: -32602, message: 'no such cursor' } });
    await page.close();
    // Parts of a list are not remembered as the whole.
    expect(await bridge.agent.toolNames()).toEqual([openTool, ...profileTools]);
  });
});

describe('calls', () => {
  it('a call of our tool never reaches a page that claims its name', { tags: ['P-043'] }, async () => {
    await using bridge = await Bridge.open();
    await using page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult({ name: openTool, inputSchema })) });
    expect(await bridge.agent.callTool(openTool)).toEqual({
      content: [{ type: 'text', text: 'true' }],
      structuredContent: { result: true },
    });
    expect(page.messages.filter(({ method }) => method === 'tools/call')).toEqual([]);
  });

  it('pass to the page unchanged, unknown keys and all', { tags: ['P-045'] }, async () => {
    await using bridge = await Bridge.open();
    await using page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult({ name: 'get_cells', inputSchema })) });
    const params = { name: 'get_cells', arguments: { cellIndexStart: 0, x: { y: [null, 1.5, ''] } }, 'x-top': true, _meta: { 'x/y': 1 } };
    await bridge.agent.request('tools/call', params);
    expect((await page.message('tools/call')).params).toEqual(params);
  });
});

describe('a call of a tool that the connected page does not list', () => {
  const unknown = { error: { code: -32602, message: 'Unknown tool: "nope".', data: { code: 'unknown_tool' } } };
  const done = { content: [{ type: 'text', text: 'done' }] };
  const countOf = (page: RawPage, wanted: string): number => page.messages.filter(({ method }) => method === wanted).length;

  it.each(['static', 'dynamic'] as const)('is answered "Unknown tool" and does not reach the page (%s)', async (list) => {
    await using bridge = await Bridge.open({ list });
    await using page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult({ name: 'own', inputSchema })) });
    // Colab's own names are no exception.
    for (const name of ['nope', 'get_cells'])
      expect(await bridge.agent.request('tools/call', { name })).toMatchObject({ error: { message: `Unknown tool: "${name}".` } });
    expect(await bridge.agent.request('tools/call', { name: 'nope' })).toMatchObject(unknown);
    expect(await bridge.agent.request('tools/call', { name: 7 })).toMatchObject({ error: { code: -32602 } });
    expect(countOf(page, 'tools/call')).toBe(0);
    await bridge.agent.callTool('own');
    expect(countOf(page, 'tools/call')).toBe(1);
  });

  it('costs the page one list for any number of calls that are known', async () => {
    await using bridge = await Bridge.open();
    await using page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult({ name: 'own', inputSchema })) });
    await Promise.all(Array.from({ length: 20 }, () => bridge.agent.callTool('own')));
    await bridge.agent.callTool('own');
    expect([countOf(page, 'tools/list'), countOf(page, 'tools/call')]).toEqual([1, 21]);

    await using listed = await Bridge.open();
    await using other = await RawPage.serve({ ...listed.address, answer: listing(toolsResult({ name: 'own', inputSchema })) });
    await listed.agent.toolNames();
    await listed.agent.callTool('own');
    expect(countOf(other, 'tools/list')).toBe(1);
  });

  it('is known when the list has changed, told or not', async () => {
    await using bridge = await Bridge.open();
    let tools = [{ name: 'own', inputSchema }];
    const answer = (request: JsonObject): PageAnswer => listing(toolsResult(...tools))(request);
    await using page = await RawPage.serve({ ...bridge.address, answer });
    expect(await bridge.agent.request('tools/call', { name: 'nope' })).toMatchObject(unknown);
    tools = [{ name: 'nope', inputSchema }];
    expect(await bridge.agent.callTool('nope')).toBeDefined();
    tools = [];
    page.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await bridge.agent.until(() => bridge.agent.named('notifications/tools/list_changed').length === 2);
    expect(await bridge.agent.request('tools/call', { name: 'nope' })).toMatchObject(unknown);
  });

  it('may stand on a later page of the list', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    const answer = ({ method, params }: JsonObject): PageAnswer => {
      if (method === 'tools/call') return { result: done };
      const isSecond = ((params ?? {}) as JsonObject).cursor === 'two';
      if (method === 'tools/list')
        return { result: { tools: [{ name: isSecond ? 'b' : 'a', inputSchema }], ...(isSecond ? {} : { nextCursor: 'two' }) } };
      return undefined;
    };
    await using _page = await RawPage.serve({ ...bridge.address, answer });
    await bridge.agent.toolNames();
    expect(await bridge.agent.callTool('b')).toEqual(done);
    expect(await bridge.agent.request('tools/call', { name: 'nope' })).toMatchObject(unknown);
  });

  it.each([
    ['an error', { error: { code: -32601, message: 'I list nothing' } }],
    ['no array', '"result":{"tools":{"0":{"name":"a"}}}'],
    ['pages without end', { result: { tools: [], nextCursor: 'again' } }],
  ] as const)('reaches a page that answers its list with %s, which is asked once', { tags: ['deep'] }, async (_kind, answered) => {
    await using bridge = await Bridge.open();
    const answer = ({ method }: JsonObject): PageAnswer => {
      if (method === 'tools/list') return answered;
      return method === 'tools/call' ? { result: done } : undefined;
    };
    await using page = await RawPage.serve({ ...bridge.address, answer });
    expect(await bridge.agent.callTool('nope')).toEqual(done);
    const asked = countOf(page, 'tools/list');
    expect(await bridge.agent.callTool('another')).toEqual(done);
    expect(countOf(page, 'tools/list')).toBe(asked);
  });

  it('waits for the next page when this one leaves as it is asked, and ends when it is cancelled', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    const never = ({ method }: JsonObject): Promise<PageAnswer> | undefined =>
      method === 'tools/list' ? new Promise(() => {}) : undefined;
    const leaving = await RawPage.serve({ ...bridge.address, answer: never });
    const call = bridge.agent.request('tools/call', { name: 'own' });
    const unheard = bridge.agent.request('tools/call', { name: 'own' }, 77);
    await leaving.message('tools/list');
    bridge.agent.notify('notifications/cancelled', { requestId: 77 });
    leaving.socket.terminate();
    await using page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult({ name: 'own', inputSchema })) });
    expect(await call).toMatchObject({ result: { content: [{ type: 'text' }] } });
    expect([countOf(leaving, 'tools/call'), countOf(page, 'tools/call')]).toEqual([0, 1]);
    expect(await Promise.race([unheard, bridge.agent.request('ping')])).toMatchObject({ result: {} });
  });
});
