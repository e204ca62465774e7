import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type CallEvent, defineTool, type PageSession, type PageSessionOptions, type PageTool } from '../src/index.js';
import { within } from './support/bounded.js';
import { createNodePage } from './support/node-page.js';
import { type HubConnection, TestHub } from './support/test-hub.js';

/** Resolves when it is aborted, and not before. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('what a hub asks of a page', () => {
  let hub: TestHub;
  let connection: HubConnection;
  const sessions: PageSession[] = [];

  beforeEach(async () => {
    hub = await TestHub.open();
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.disconnect();
    await hub.close();
  });

  const connect = async (options: Partial<PageSessionOptions>): Promise<PageSession> => {
    const session = createNodePage(options);
    sessions.push(session);
    expect(await session.connectManually(hub.entry)).toMatchObject({ status: 'connected' });
    connection = await hub.connection(0);
    return session;
  };

  it('greets with what it has, in the version asked for', async () => {
    await connect({ title: 'A page', instructions: 'Be kind.' });
    expect(await connection.initialized).toEqual({
      protocolVersion: '2025-06-18',
      capabilities: { logging: {}, tools: { listChanged: true } },
      serverInfo: { name: 'test-page', version: '1.0.0', title: 'A page' },
      instructions: 'Be kind.',
    });
    const { result } = await connection.request('initialize', { protocolVersion: '1999-01-01', clientInfo: {} });
    expect(result).toMatchObject({ protocolVersion: '2025-11-25' });
  });

  it('lists tools with everything but what runs, and takes others while connected', async () => {
    const session = await connect({
      tools: [
        { name: 'plain', run: () => 'x' },
        defineTool({
          name: 'typed',
          title: 'T',
          description: 'D',
          annotations: { readOnlyHint: true },
          inputSchema: z.object({ n: z.number() }),
          outputSchema: z.object({ twice: z.number() }),
          run: ({ n }) => ({ twice: 2 * n }),
        }),
      ],
    });
    const { result } = await connection.request('tools/list');
    expect(result).toMatchObject({
      tools: [
        { name: 'plain', inputSchema: { type: 'object' } },
        {
          name: 'typed',
          title: 'T',
          description: 'D',
          annotations: { readOnlyHint: true },
          inputSchema: { type: 'object', required: ['n'] },
          outputSchema: { type: 'object', properties: { twice: { type: 'number' } } },
        },
      ],
    });
    expect(await connection.callTool('typed', { n: 4 })).toMatchObject({ structuredContent: { twice: 8 } });

    session.setTools([{ name: 'other', run: () => 'y' }]);
    await connection.notification('notifications/tools/list_changed');
    expect(await connection.request('tools/call', { name: 'plain' })).toMatchObject({
      error: { code: -32602, message: 'The page has no tool "plain".' },
    });
    expect(await connection.callTool('other')).toMatchObject({ content: [{ text: 'y' }] });
  });

  it.each<[PageTool[], string]>([
    [
      [
        { name: 'a', run: () => 1 },
        { name: 'a', run: () => 2 },
      ],
      'Two tools are named "a".',
    ],
    [[{ name: '', run: () => 1 }], 'A tool has no name.'],
    [[{ name: 'a' } as never], 'The tool "a" has no function "run".'],
    [
      [{ name: 'a', inputSchema: { '~standard': { version: 1, vendor: 'v', validate: () => ({ value: 1 }) } } as never, run: () => 1 }],
      'v cannot say',
    ],
  ])('finds faults of the author at once: %#', (tools, fault) => {
    expect(() => createNodePage({ tools })).toThrow(fault);
  });

  it('answers a failing tool as a result, and faulty arguments before the tool runs', { tags: ['P-155'] }, async () => {
    let runs = 0;
    await connect({
      tools: [
        {
          name: 'fail',
          inputSchema: { properties: { n: { type: 'integer' } }, required: ['n'] },
          run: () => {
            runs++;
            throw new Error('The board is full.');
          },
        },
        { name: 'circular', run: () => Object.assign([], { 0: globalThis }) },
      ],
    });
    const fault = (text: string): object => ({ isError: true, content: [{ type: 'text', text }] });
    expect(await connection.callTool('fail', { n: 'x' })).toEqual(fault('"n" must be integer, found "x"'));
    expect(await connection.callTool('fail', [1])).toEqual(fault('the arguments must be object, found [1]'));
    expect(runs).toBe(0);
    expect(await connection.callTool('fail', { n: 1 })).toEqual(fault('The board is full.'));
    expect(await connection.callTool('circular')).toMatchObject({ isError: true });
  });

  it('tells progress to who asked, and everything to the page', async () => {
    const events: CallEvent[] = [];
    const session = await connect({
      tools: [
        {
          name: 'count',
          run: (_args, { progress, agent }) => {
            progress(1, 2, 'half');
            progress(2);
            return agent.name;
          },
        },
      ],
    });
    session.on('call', (event) => events.push(event));
    await connection.callTool('count', { a: 1 });
    expect(connection.received.some(({ method }) => method === 'notifications/progress')).toBe(false);
    expect(await connection.callTool('count', {}, { progressToken: 'p' })).toMatchObject({ content: [{ text: 'test-agent' }] });
    const told = connection.received.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
    expect(told).toEqual([
      { progressToken: 'p', progress: 1, total: 2, message: 'half' },
      { progressToken: 'p', progress: 2 },
    ]);
    expect(events.slice(0, 4)).toMatchObject([
      { type: 'began', call: { id: 1, tool: 'count', args: { a: 1 }, agent: { name: 'test-agent', version: '1.2' } } },
      { type: 'progress', progress: 1, total: 2, message: 'half' },
      { type: 'progress', progress: 2 },
      { type: 'ended', call: { id: 1 }, outcome: 'done' },
    ]);
  });

  it('aborts a call that the agent cancels, answers nothing, and serves on', async () => {
    const ends: CallEvent[] = [];
    const session = await connect({ tools: [{ name: 'wait', run: (_args, { signal }) => aborted(signal) }] });
    const began = new Promise((resolve) => session.on('call', resolve));
    const ended = new Promise<void>((resolve) => {
      session.on('call', (event) => {
        if (event.type !== 'ended') return;
        ends.push(event);
        resolve();
      });
    });
    connection.send({ jsonrpc: '2.0', id: 77, method: 'tools/call', params: { name: 'wait' } });
    await within('the call begins', began);
    connection.notify('notifications/cancelled', { requestId: 77, reason: 'changed my mind' });
    await within('the call ends', ended);
    expect(ends).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await connection.request('ping')).toMatchObject({ result: {} });
    expect(connection.received.some(({ id }) => id === 77)).toBe(false);
  });

  it('ends a call that the person stops, also one that ignores its signal', { tags: ['P-054'] }, async () => {
    const session = await connect({ tools: [{ name: 'deaf', run: () => new Promise(() => {}) }] });
    const outcomes: string[] = [];
    session.on('call', (event) => {
      if (event.type === 'began') event.call.stop();
      if (event.type === 'ended') outcomes.push(event.outcome);
    });
    expect(await connection.callTool('deaf')).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'The person at the page stopped "deaf".' }],
    });
    expect(outcomes).toEqual(['stopped']);
  });

  it.each(['is lost', 'is ended by the person'])('aborts what runs when the connection %s', { tags: ['P-054'] }, async (how) => {
    let signal: AbortSignal | undefined;
    const session = await connect({
      tools: [
        {
          name: 'wait',
          run: (_args, call) => {
            signal = call.signal;
            queueMicrotask(() => (how === 'is lost' ? connection.socket.terminate() : session.disconnect()));
            return aborted(call.signal);
          },
        },
      ],
    });
    const ended = new Promise<CallEvent>((resolve) => {
      session.on('call', (event) => {
        if (event.type === 'ended') resolve(event);
      });
    });
    connection.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } });
    expect(await within('the call ends', ended)).toMatchObject({ outcome: 'cancelled' });
    expect(signal?.aborted).toBe(true);
  });

  it('sends log lines from the level on that was set', async () => {
    const session = await connect({});
    session.log('debug', 'too fine');
    session.log('info', { n: 1 });
    await connection.request('logging/setLevel', { level: 'error' });
    session.log('warning', 'too fine');
    session.log('alert', 'now');
    expect(await connection.request('logging/setLevel', { level: 'loud' })).toMatchObject({ error: { code: -32602 } });
    const lines = connection.received.filter(({ method }) => method === 'notifications/message').map(({ params }) => params);
    expect(lines).toEqual([
      { level: 'info', logger: 'test-page', data: { n: 1 } },
      { level: 'alert', logger: 'test-page', data: 'now' },
    ]);
  });

  it.each(['resources/list', 'prompts/list', 'tasks/list', 'server/discover', 'toString', '__proto__'])(
    'does not know %s',
    async (method) => {
      await connect({});
      expect(await connection.request(method)).toMatchObject({ error: { code: -32601, message: `The page does not know "${method}".` } });
    },
  );

  it('skips what is no message, and serves on', async () => {
    const faults: string[] = [];
    await connect({ log: (fault) => faults.push(fault) });
    for (const frame of ['{', '[]', '1', 'null', '{"jsonrpc":"2.0","id":5,"result":{}}', '{"jsonrpc":"2.0","method":"unknown"}'])
      connection.send(frame);
    connection.socket.send(Buffer.from([1, 2, 3]));
    expect(await connection.request('ping')).toMatchObject({ result: {} });
    expect(faults).toEqual([
      ...Array(4).fill('A frame is not a JSON-RPC message.'),
      'An answer came that nobody asked for.',
      'A frame is not a JSON-RPC message.',
    ]);
    const answers: JsonObject[] = connection.received.filter(({ error }) => error !== undefined);
    expect(answers).toEqual([]);
  });
});
