// @module-tag deep
// @module-tag P-351

import type { McpServer } from '@modelcontextprotocol/server';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { ServerTools } from '../../src/catalog/server-tools.js';
import { Bridge } from '../support/bridge.js';
import { HttpUpstream } from '../support/http-upstream.js';
import { openMcpHttp } from '../support/mcp-http.js';
import { type PageAnswer, RawPage } from '../support/raw-page.js';
import { httpConfig, openUpstreams } from '../support/upstreams.js';

const inputSchema = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, count: { type: 'integer', 'x-mcp-header': 'Count' } },
};
const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });

/** Adds a tool whose region stands under the name of a header, and which says what it was called with. */
const registerQuery =
  (header: () => string) =>
  (server: McpServer): void => {
    const region = z.string().meta({ 'x-mcp-header': header() });
    server.registerTool('query', { inputSchema: z.object({ region, sql: z.string() }) }, async ({ region, sql }) =>
      text(`${sql} in ${region}`),
    );
  };

describe('a tool whose parameters stand in headers, at the HTTP door', () => {
  async function open() {
    const run = async (args: JsonObject) => text(JSON.stringify(args));
    const opened = await openMcpHttp({ tools: [{ name: 'sql', inputSchema, run }] });
    const call = async (args: JsonObject, headers: Record<string, string> = {}) => {
      const response = await opened.ask('tools/call', { name: 'sql', arguments: args }, { headers });
      return { status: response.status, ...((await response.json()) as JsonObject) };
    };
    return { ...opened, call };
  }

  it('is called where header and body agree', async () => {
    const { call } = await open();
    const args = { region: 'Hello, 世界', count: 7 };
    const headers = { 'mcp-param-region': '=?base64?SGVsbG8sIOS4lueVjA==?=', 'MCP-PARAM-COUNT': '7.0' };
    expect(await call(args, headers)).toMatchObject({ status: 200, result: { content: [{ text: JSON.stringify(args) }] } });
    expect(await call({}, {})).toMatchObject({ status: 200 });
    expect(await call({ region: null })).toMatchObject({ status: 200 });
  });

  it.each([
    ['another value', { region: 'a' }, { 'mcp-param-region': 'b' }],
    ['no header', { region: 'a' }, {}],
    ['base64 that is none', { region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' }],
    ['another number', { count: 7 }, { 'mcp-param-count': '8' }],
  ])('is refused with -32020 for %s, and not run', async (_, args, headers) => {
    const { call, recorder } = await open();
    expect(await call(args, headers)).toMatchObject({
      status: 400,
      id: 1,
      error: { code: -32020, message: expect.stringContaining('Mcp-Param-') },
    });
    expect(recorder.requests).toEqual([]);
  });

  it('is called by agents of the legacy era without any of that', async () => {
    const { open: openSession } = await open();
    const session = await openSession();
    const response = await session.request('tools/call', { name: 'sql', arguments: { region: 'a' } });
    expect(await response.json()).toMatchObject({ result: { content: [{ text: '{"region":"a"}' }] } });
  });
});

it('a tool of a page whose parameters stand in headers is refused where they differ, and not run', async () => {
  await using bridge = await Bridge.open();
  const opened = await openMcpHttp({ providers: [bridge.session.proxyServer ?? expect.fail()] });
  const answer = ({ method }: JsonObject): PageAnswer => {
    if (method === 'tools/list') return { result: { tools: [{ name: 'of_page', inputSchema }] } };
    return method === 'tools/call' ? { result: text('run') } : undefined;
  };
  const page = await RawPage.serve({ ...bridge.address, answer });
  const call = async (headers: Record<string, string>) => {
    const response = await opened.ask('tools/call', { name: 'of_page', arguments: { region: 'a' } }, { headers });
    return { status: response.status, ...((await response.json()) as JsonObject) };
  };
  await (await opened.ask('tools/list')).json();
  expect(await call({ 'mcp-param-region': 'b' })).toMatchObject({ status: 400, error: { code: -32020 } });
  expect(await call({})).toMatchObject({ status: 400, error: { code: -32020 } });
  expect(page.messages.filter(({ method }) => method === 'tools/call')).toEqual([]);
  expect(await call({ 'mcp-param-region': 'a' })).toMatchObject({ status: 200, result: text('run') });
});

describe('a tool whose parameters stand in headers, of a server over HTTP', () => {
  async function open(register: (server: McpServer) => void) {
    const upstream = await HttpUpstream.open('modern', register);
    const opened = openUpstreams([httpConfig(upstream.url)]);
    return { upstream, ...opened, sent: (name: string) => upstream.headers.flatMap((headers) => headers[name] ?? []) };
  }

  it.each(['us-west1', 'Hello, 世界', ' padded ', ''])('is called with them: %j', async (region) => {
    const { call, server, sent } = await open(registerQuery(() => 'Region'));
    await server().listTools();
    expect(await call('query', { region, sql: 'SELECT 1' })).toMatchObject(text(`SELECT 1 in ${region}`));
    expect(sent('mcp-param-region')).toHaveLength(1);
  });

  it('is called though it was never listed, and though its header has another name by now', async () => {
    let header = 'Region';
    const { call, sent } = await open(registerQuery(() => header));
    expect(await call('query', { region: 'a', sql: '1' })).toMatchObject(text('1 in a'));
    header = 'Zone';
    expect(await call('query', { region: 'b', sql: '2' })).toMatchObject(text('2 in b'));
    expect([sent('mcp-param-region').at(-1), sent('mcp-param-zone')]).toEqual(['b', ['b']]);
  });

  it('is refused at our door when header and body of the agent differ, under the name that agents know', async () => {
    const { upstreams, server, sent } = await open(registerQuery(() => 'Region'));
    await server().listTools();
    const { ask } = await openMcpHttp({ providers: [new ServerTools({ servers: upstreams, logger: silentLogger })] });
    const call = (value: string) =>
      ask('tools/call', { name: 'it__query', arguments: { region: 'a', sql: '1' } }, { headers: { 'mcp-param-region': value } });
    const refused = await call('b');
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({ error: expect.objectContaining({ code: -32020 }) }),
    ]);
    expect(sent('mcp-param-region')).toEqual([]);
    expect(await (await call('a')).json()).toMatchObject({ result: text('1 in a') });
    expect(sent('mcp-param-region')).toEqual(['a']);
  });

  it('is left out when it declares them wrongly, which is reported once; the others are there', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const { server, log, call } = await open((server) => {
      registerQuery(() => 'Region')(server);
      const amount = z.number().meta({ 'x-mcp-header': 'Amount' });
      server.registerTool('odd', { inputSchema: z.object({ amount }) }, async () => text('odd'));
    });
    const names = (await server().listTools()).map(({ name }) => name);
    expect(names).toContain('query');
    expect(names).not.toContain('odd');
    await expect(call('odd', { amount: 1.5 })).rejects.toMatchObject({ code: 'unknown_tool' });
    await server().close();
    await server().start();
    await server().listTools();
    const reports = log.filter((line) => line.includes('"odd"'));
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatch(/^warn: Of "it" is left out: tool "odd", since "x-mcp-header" of "amount" stands on the type "number"/);
  });
});
