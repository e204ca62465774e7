// @module-tag deep

import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { openPageTransport } from '../support/page-transport.js';
import { Program } from '../support/program.js';

let program: Program;
beforeEach(async () => {
  program = await Program.open();
});
afterEach(() => program.close());

/** A page that somebody else wrote: the official SDK's server behind a few lines of WebSocket. */
async function openSdkPage(): Promise<McpServer> {
  const server = new McpServer({ name: 'sdk-page', version: '1.0.0' });
  server.registerTool('add', { description: 'Adds', inputSchema: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
    structuredContent: { sum: a + b },
  }));
  server.registerResource('cell', 'notebook://cell/1', { mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, text: 'print(1)' }],
  }));
  await server.connect(openPageTransport(await program.address()));
  return server;
}

it("serves a page that the official SDK's server runs, with its tools and resources", async () => {
  const page = await openSdkPage();
  await program.until(() => program.notifications.some(({ method }) => method === 'notifications/tools/list_changed'));
  expect(await program.request('tools/list')).toMatchObject({
    result: { tools: [{ name: 'open_colab_browser_connection' }, { name: 'add', inputSchema: { required: ['a', 'b'] } }] },
  });
  expect(await program.callTool('add', { a: 2, b: 3 })).toMatchObject({ result: { structuredContent: { sum: 5 } } });
  expect(await program.request('resources/read', { uri: 'notebook://cell/1' })).toMatchObject({
    result: { contents: [{ text: 'print(1)' }] },
  });
  await page.close();
});

it('tells agents when the tools of such a page change', async () => {
  const page = await openSdkPage();
  const changes = () => program.notifications.filter(({ method }) => method === 'notifications/tools/list_changed').length;
  await program.until(() => changes() === 1);
  page.registerTool('subtract', { inputSchema: z.object({}) }, async () => ({ content: [] }));
  await program.until(() => changes() === 2);
  expect(JSON.stringify(await program.request('tools/list'))).toContain('"subtract"');
  await page.close();
});
