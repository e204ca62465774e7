// @module-tag deep
// @module-tag P-056

import { createRequire } from 'node:module';
import { type ClientOptions, Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ServerTools } from '../../src/catalog/server-tools.js';
import { modernVersion } from '../support/agents.js';
import { openMcpHttp } from '../support/mcp-http.js';
import { fixtureConfig, openUpstreams } from '../support/upstreams.js';

const requestInit = { headers: { authorization: 'Bearer good' } };
const info = { name: 'agent', version: '1' };

interface HttpAgent {
  era: string;
  callTool(
    name: string,
    args?: JsonObject,
    options?: { signal?: AbortSignal; onprogress?: (progress: object) => void },
  ): Promise<JsonObject>;
  tools(): Promise<string[]>;
  readResource(uri: string): Promise<JsonObject>;
  getPrompt(name: string): Promise<JsonObject>;
  onToolsChanged(listener: () => void): Promise<void>;
  /** Ends the session as the agent would. */
  leave(): Promise<void>;
}

async function openV2(url: URL, options: ClientOptions = {}): Promise<HttpAgent> {
  const client = new ClientV2(info, options);
  const transport = new TransportV2(url, { requestInit });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return {
    era: client.getProtocolEra() ?? 'none',
    callTool: (name, args = {}, more = {}) => client.callTool({ name, arguments: args }, more),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (name) => client.getPrompt({ name }),
    onToolsChanged: async (listener) => {
      client.setNotificationHandler('notifications/tools/list_changed', listener);
      if (client.getProtocolEra() === 'modern') await client.listen({ toolsListChanged: true });
    },
    leave: () => transport.terminateSession(),
  };
}

async function openV1(url: URL): Promise<HttpAgent> {
  const client = new ClientV1(info);
  const transport = new TransportV1(url, { requestInit });
  onTestFinished(() => client.close());
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    era: 'legacy',
    callTool: (name, args = {}, more = {}) => client.callTool({ name, arguments: args }, undefined, more),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (name) => client.getPrompt({ name }),
    onToolsChanged: async (listener) => client.setNotificationHandler(ToolListChangedNotificationSchema, listener),
    leave: () => transport.terminateSession(),
  };
}

const kinds: { name: string; era: string; open: (url: URL) => Promise<HttpAgent> }[] = [
  { name: 'SDK v1', era: 'legacy', open: openV1 },
  { name: 'SDK v2', era: 'legacy', open: (url) => openV2(url) },
  { name: 'SDK v2, mode auto', era: 'modern', open: (url) => openV2(url, { versionNegotiation: { mode: 'auto' } }) },
  {
    name: `SDK v2, pinned to ${modernVersion}`,
    era: 'modern',
    open: (url) => openV2(url, { versionNegotiation: { mode: { pin: modernVersion } } }),
  },
];

describe.each(kinds)('an agent over HTTP of the kind $name', ({ era, open }) => {
  it('lists, calls, reads and fills in', async () => {
    const { url, test } = await openMcpHttp();
    const agent = await open(url);
    expect(agent.era).toBe(era);
    expect(await agent.tools()).toEqual(test.tools.map(({ name }) => name));
    expect(await agent.callTool('hello', { name: 'Ünal' })).toMatchObject({ content: [{ type: 'text', text: 'Hello, Ünal!' }] });
    expect(await agent.callTool('fail')).toMatchObject({ isError: true });
    await expect(agent.callTool('no such tool – ü')).rejects.toThrow(/no tool/);
    expect(await agent.readResource('note://1')).toMatchObject({ contents: [{ text: 'one' }] });
    expect(await agent.getPrompt('explain')).toMatchObject({ messages: [{ role: 'user' }] });
  });

  it('is known to providers by its principal, its door and its era', async () => {
    const { url, recorder } = await openMcpHttp();
    const agent = await open(url);
    await agent.callTool('hello');
    expect(recorder.requests.find(({ method }) => method === 'tools/call')?.context.caller).toMatchObject({
      door: 'http',
      era,
      principal: { kind: 'grant', grantId: 'good' },
      clientInfo: info,
    });
  });

  it('is told the progress of a call before its answer', async () => {
    const { url } = await openMcpHttp();
    const agent = await open(url);
    const seen: object[] = [];
    // The SDK drops progress that comes in one piece with the answer, so this looks at the first step only.
    const call = agent.callTool('steps', {}, { onprogress: (progress) => seen.push(progress) });
    expect(await call).toMatchObject({ content: [{ text: 'done' }] });
    expect(seen[0]).toMatchObject({ progress: 1, total: 2, message: 'half' });
  });

  it('cancels a call at its provider', async () => {
    const { url, test } = await openMcpHttp();
    const agent = await open(url);
    const controller = new AbortController();
    const call = agent.callTool('wait', {}, { signal: controller.signal });
    call.catch(() => {});
    await test.waiting();
    controller.abort('changed my mind');
    await expect(call).rejects.toThrow();
    expect(await test.cancelled()).toEqual(expect.any(String));
    expect(await agent.callTool('hello')).toMatchObject({ content: [{ text: 'Hello, world!' }] });
  });

  it('hears of changes of the tools', async () => {
    const { url, memory, test } = await openMcpHttp();
    const agent = await open(url);
    const changed = new Promise<void>((resolve) => void agent.onToolsChanged(resolve).then(() => memory.setTools(test.tools.slice(0, 1))));
    await changed;
    expect(await agent.tools()).toEqual(['hello']);
  });

  it('runs 500 calls at once, each with its own answer', async () => {
    const { url } = await openMcpHttp();
    const agent = await open(url);
    const numbers = Array.from({ length: 500 }, (_, number) => number);
    const results = await Promise.all(numbers.map((number) => agent.callTool('arguments', { number })));
    expect(results.map(({ structuredContent }) => (structuredContent as JsonObject).number)).toEqual(numbers);
  });

  it('ends its session when it leaves', async () => {
    const { url, door, ended, recorder } = await openMcpHttp();
    const agent = await open(url);
    await agent.callTool('hello');
    const { sessionId } = recorder.requests.at(-1)?.context.caller ?? {};
    expect(door.sessions).toBe(era === 'legacy' ? 1 : 0);
    await agent.leave();
    expect(door.sessions).toBe(0);
    expect(ended).toEqual(era === 'legacy' ? [sessionId] : []);
  });

  it('calls the tools of a server that others wrote', async () => {
    const { resolve } = createRequire(import.meta.url);
    const everything = fixtureConfig('', [], {
      name: 'everything',
      args: [resolve('@modelcontextprotocol/server-everything/dist/index.js')],
    });
    const { upstreams } = openUpstreams([everything]);
    const { url } = await openMcpHttp({ providers: [new ServerTools({ servers: upstreams, logger: silentLogger })] });
    const agent = await open(url);
    expect(await agent.tools()).toEqual(expect.arrayContaining(['hello', 'everything__echo', 'everything__get-sum']));
    expect(await agent.callTool('everything__echo', { message: 'x' })).toMatchObject({ content: [{ text: 'Echo: x' }] });
    const seen: object[] = [];
    await agent.callTool(
      'everything__trigger-long-running-operation',
      { duration: 0.3, steps: 3 },
      { onprogress: (progress) => seen.push(progress) },
    );
    expect(seen.length).toBeGreaterThan(0);
    expect(await agent.getPrompt('everything__simple-prompt')).toMatchObject({ messages: [{ role: 'user' }] });
  });
});
