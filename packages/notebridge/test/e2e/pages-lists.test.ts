import { Client as ClientV2, InMemoryTransport as InMemoryV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as InMemoryV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.js';
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
  it("is the profile's before any page, the page's own while it is there, and what it was afterwards", async () => {
    await using bridge = await Bridge.open({ graceMs: 0 });
    expect(await bridge.agent.toolNames()).toEqual([openTool, ...profileTools]);
    const own = { name: 'own', inputSchema, 'x-unknown': { kept: [1.5] }, annotations: { readOnlyHint: true, 'x-hint': 'y' } };
    const page = await RawPage.serve({ ...bridge.address, answer: listing(JSON.stringify({ tools: [own], 'x-top': 1 })) });
    const { result } = await bridge.agent.request('tools/list');
    expect(result).toMatchObject({ 'x-top': 1, tools: [{ name: openTool }, own] });
    await page.close();
    expect(await bridge.agent.toolNames()).toEqual([openTool, 'own']);
  });

  it('is only the open tool without a page when it is dynamic', async () => {
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
      // No schema, or one that does not name its type, can be mended.
      [openTool, 'a', 'g'],
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
  ])('that is %s leaves agents of both SDKs with what is usable', async (_kind, result, expected) => {
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

  it('of 100,000 tools is cut', async () => {
    await using bridge = await Bridge.open();
    const tools = Array.from({ length: 100_000 }, (_, index) => ({ name: `t${index}`, inputSchema }));
    await using _page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult(...tools)) });
    expect(await bridge.agent.toolNames()).toHaveLength(1001);
  });

  it.each([
    ['an error', (): PageAnswer => ({ error: { code: -32601, message: 'I list nothing' } })],
    ['a text', (): PageAnswer => '"result":"tools"'],
    ['its own end', (_: JsonObject, page: RawPage): PageAnswer => void page.socket.terminate()],
  ])('that is answered with %s is that of a page which is not there', async (_kind, answer) => {
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
  it('of our tool never reach a page that claims its name', async () => {
    await using bridge = await Bridge.open();
    await using page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult({ name: openTool, inputSchema })) });
    expect(await bridge.agent.callTool(openTool)).toEqual({
      content: [{ type: 'text', text: 'true' }],
      structuredContent: { result: true },
    });
    expect(page.messages.filter(({ method }) => method === 'tools/call')).toEqual([]);
  });

  it('pass to the page unchanged, unknown keys and all', async () => {
    await using bridge = await Bridge.open();
    await using page = await RawPage.serve({ ...bridge.address, answer: listing(toolsResult()) });
    const params = { name: 'get_cells', arguments: { cellIndexStart: 0, x: { y: [null, 1.5, ''] } }, 'x-top': true, _meta: { 'x/y': 1 } };
    await bridge.agent.request('tools/call', params);
    expect((await page.message('tools/call')).params).toEqual(params);
  });
});
