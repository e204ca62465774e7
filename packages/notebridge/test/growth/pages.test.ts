// @module-tag deep

// @runs process
import { PassThrough } from 'node:stream';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import { answer, type MiddlewareContext } from '@notebridge/protocol/core/middleware';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { createLineChannel } from '@notebridge/protocol/rpc/line-channel';
import { NotificationBrake } from '@notebridge/protocol/rpc/notification-brake';
import { describe } from 'vitest';
import { FitOutputsMiddleware } from '../../src/notebooks/outputs/fit-outputs-middleware.js';
import { PageSession } from '../../src/notebooks/pages/page-session.js';
import { ProxyServer } from '../../src/notebooks/pages/proxy-server.js';
import { createContext } from '../support/create-context.js';
import { type GrowingKind, testGrowth, textsIn } from '../support/growth.js';

const opened = JSON.stringify({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'page', version: '1' } });

/** A page that says these lines once it is asked something, and answers each request with this text. */
async function withPage(
  { lines = [], result = '{}' }: { lines?: readonly string[]; result?: string },
  use: (session: PageSession) => Promise<unknown>,
): Promise<void> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ends = { maxMessageLength: 2 ** 24, onUnreadable: () => {} };
  createLineChannel({ input: output, output: input, ...ends }).incoming.consume({
    onItem: (message) => {
      if (!isJsonObject(message) || message.id === undefined || message.method === undefined) return;
      for (const line of message.method === 'ping' ? lines : []) input.write(`${line}\n`);
      input.write(`{"jsonrpc":"2.0","id":${message.id},"result":${message.method === 'initialize' ? opened : result}}\n`);
    },
  });
  const brake = new NotificationBrake({ sender: 'the page', pass: () => {} });
  const channel = createLineChannel({ input, output, ...ends });
  await using session = new PageSession(channel, { onNotification: (said) => brake.take(said) });
  await session.initialize();
  await use(session).finally(() => brake.close());
}

const takeMessage = (text: string): Promise<void> => withPage({ lines: [text] }, (session) => session.request('ping'));
const takeMessages = (text: string): Promise<void> =>
  withPage({ lines: (JSON.parse(text) as unknown[]).map((each) => JSON.stringify(each)) }, (session) => session.request('ping'));

/** An agent lists the tools, and calls one that is not there. */
const takeTools = (text: string): Promise<void> =>
  withPage({ result: text }, async (session) => {
    const server = new ProxyServer({ clientFactory: () => session, isConnected: () => true });
    await server.request('tools/list', {}, createContext('tools/list'));
    await server.request('tools/call', { name: 'other' }, createContext('tools/call'));
  });

/** An agent runs a cell, and reads what was left out. */
const takeResult = (text: string): Promise<void> =>
  withPage({ result: text }, async (session) => {
    const server = new ProxyServer({ clientFactory: () => session, isConnected: () => true });
    const fit = new FitOutputsMiddleware();
    for (const [name, more] of [
      ['run_code_cell', {}],
      ['get_cells', {}],
      ['get_output', { outputIndex: 0 }],
    ] as const) {
      const context = createContext('tools/call', { name, arguments: { cellId: 'a', ...more } });
      await fit.onCallTool(context as never, async ({ message }: MiddlewareContext) =>
        answer((await server.request('tools/call', message, context)) as ToolResult),
      );
    }
  });

const message = (more: JsonObject): JsonObject => ({ jsonrpc: '2.0', ...more });
const messages: Record<string, (part: unknown) => unknown> = {
  'the whole of a message': (part) => part,
  'the params of a notification': (part) => message({ method: 'notifications/message', params: part }),
  'what a notification says': (part) => message({ method: 'notifications/message', params: { level: 'info', data: part } }),
  'the method of a notification': (part) => message({ method: textsIn(part).join(' '), params: {} }),
  'the params of a request': (part) => message({ id: 'a', method: 'sampling/createMessage', params: { part } }),
  'the id of a request': (part) => message({ id: part, method: 'ping' }),
  'an answer to nothing': (part) => message({ id: 'x', result: { part } }),
  'an error': (part) => message({ id: 1, error: part }),
  'other members': (part) => ({ ...message({ method: 'notifications/message' }), part }),
};
const toolOf = (more: JsonObject): JsonObject => ({ name: 'a', inputSchema: { type: 'object' }, ...more });
const tools: Record<string, (part: unknown) => unknown> = {
  'tools of a page': (part) => ({ tools: part }),
  'names of tools of a page': (part) => ({ tools: textsIn(part).map((name) => toolOf({ name })) }),
  'a tool of a page': (part) => ({ tools: [toolOf({ description: part, annotations: part, icons: part, inputSchema: part, part })] }),
  'the schema of a tool of a page': (part) => ({ tools: [toolOf({ inputSchema: { type: 'object', properties: part, required: part } })] }),
  'what stands beside the tools of a page': (part) => ({ tools: [toolOf({})], part, nextCursor: part }),
};
const textOf = (value: unknown): JsonObject => ({ content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value });
const outputs = (part: unknown, toOutput: (text: string) => unknown): JsonObject => textOf({ outputs: textsIn(part).map(toOutput) });
const display = (data: unknown): JsonObject => ({ output_type: 'display_data', data, metadata: {} });
const results: Record<string, (part: unknown) => unknown> = {
  'a result': (part) => ({ content: part }),
  'blocks of a result': (part) => ({ content: textsIn(part).map((text) => ({ type: 'text', text })), structuredContent: part }),
  'outputs of a result': (part) => textOf({ outputs: part }),
  'the types of an output': (part) => textOf({ outputs: [display(part)] }),
  'a text of an output': (part) => textOf({ outputs: [display({ 'text/plain': part, 'text/html': part, 'application/json': part })] }),
  'a table of an output': (part) =>
    textOf({ outputs: [display({ 'text/html': `<table><tr>${textsIn(part).join('<td><table>')}</table>` })] }),
  'many displays': (part) => outputs(part, (text) => display({ 'text/plain': text })),
  'many prints': (part) => outputs(part, (text) => ({ output_type: 'stream', name: 'stdout', text })),
  'many errors': (part) => outputs(part, (text) => ({ output_type: 'error', ename: text, evalue: text, traceback: [text] })),
  'many images': (part) => outputs(part, (text) => display({ 'image/png': text })),
  'cells of a page': (part) => textOf({ cells: textsIn(part).map((id) => ({ id, source: id, outputs: [display({ 'text/plain': id })] })) }),
  'a cell of a page': (part) => textOf({ cells: [{ id: 'a', source: part, part, outputs: [display({ 'text/plain': 'x' })] }] }),
};

describe('a message of a page that grows', () => {
  const kinds = (all: Record<string, (part: unknown) => unknown>, take: (text: string) => unknown) =>
    Object.entries(all).map(([name, make]): GrowingKind => [name, make, take]);
  testGrowth(
    [
      ...kinds(messages, takeMessage),
      [
        'many notifications',
        (part) => textsIn(part).map((data) => message({ method: 'notifications/message', params: { data } })),
        takeMessages,
      ],
      [
        'many updates',
        (part) => textsIn(part).map((uri) => message({ method: 'notifications/resources/updated', params: { uri } })),
        takeMessages,
      ],
      ...kinds(tools, takeTools),
      ...kinds(results, takeResult),
    ],
    { coreHasOneIn: 48, tags: ['P-648'] },
  );
});
