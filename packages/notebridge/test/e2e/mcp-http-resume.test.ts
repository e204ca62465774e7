// @module-tag P-359

import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { toTextResult } from '@notebridge/protocol/core/mcp';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventReader, type LegacySession, openMcpHttp } from '../support/mcp-http.js';
import { openStepwise, resume, startCall, statusOf } from '../support/stepwise.js';

const inputSchema = { type: 'object' };
const note = (data: unknown): JsonObject => ({ level: 'info', data });
const dataOf = (message: JsonObject | undefined): unknown => (message?.params as JsonObject | undefined)?.data;
const progressOf = (message: JsonObject | undefined): unknown => (message?.params as JsonObject | undefined)?.progress;

/** What still comes until there is an answer, or nothing: the door ends each stream after a while. */
async function restOf(session: LegacySession, eventId: string | undefined): Promise<JsonObject[]> {
  const messages: JsonObject[] = [];
  for (let tries = 0, from = eventId; tries < 3; tries++) {
    const reader = await resume(session, from);
    messages.push(...(await reader.rest()));
    from = reader.lastEventId;
  }
  return messages;
}

describe('the HTTP door, legacy: a stream that broke', () => {
  it('goes on where it broke: what was sent meanwhile, the answer, and nothing twice', async () => {
    const { open, step, answer } = await openStepwise();
    const session = await open();
    const broken = await startCall(session, 7);
    await broken.close();
    step();
    answer('done');
    const reader = await resume(session, broken.lastEventId);
    expect(await reader.rest()).toMatchObject([{ params: { progress: 2 } }, { id: 7, result: { content: [{ text: 'done' }] } }]);
    // What came last is not sent again, and the stream has ended.
    expect(await (await resume(session, reader.lastEventId)).rest()).toEqual([]);
    // An answer that was lost on the second way is there for a third.
    expect(await (await resume(session, broken.lastEventId)).rest()).toHaveLength(2);
  });

  it('goes on while its call still runs', async () => {
    const { open, step, answer } = await openStepwise();
    const session = await open();
    const broken = await startCall(session, 7);
    const reader = await resume(session, broken.lastEventId);
    // There is one connection for each stream: the one before has ended.
    expect(await broken.rest()).toEqual([]);
    step();
    expect(progressOf(await reader.next())).toBe(2);
    const again = await resume(session, broken.lastEventId);
    expect(progressOf(await again.next())).toBe(2);
    answer();
    expect(await again.rest()).toMatchObject([{ id: 7 }]);
  });

  it('begins with an event without data, by which an agent of 2025-11-25 comes back before anything was said', async () => {
    const { open, test } = await openMcpHttp({ limits: { keepAliveMs: 20, retryMs: 1234 } });
    const session = await open();
    const broken = new EventReader(await session.call('wait', {}, {}, 7));
    expect(await broken.nextBlock()).toMatch(/^id: [\w-]+\nretry: 1234\ndata: $/);
    await broken.close();
    test.release();
    expect(await (await resume(session, broken.lastEventId)).rest()).toMatchObject([{ id: 7, result: {} }]);
    const older = await open({}, {}, '2025-06-18');
    const call = new EventReader(await older.call('wait', {}, {}, 7));
    expect(await call.nextBlock()).toBe(': keep-alive');
    test.release();
    let block = await call.nextBlock();
    while (block === ': keep-alive') block = await call.nextBlock();
    expect(block).toMatch(/^id: [\w-]+\nevent: message\ndata: \{/);
  });

  it('is resumed alone: never another stream, nor one of another session or of somebody else', async () => {
    const { open, answer } = await openStepwise();
    const [session, other] = [await open(), await open()];
    const [one, two] = [await startCall(session, 1, 'one'), await startCall(session, 2, 'two')];
    const others = await startCall(other, 1, 'others');
    answer();
    expect(await (await resume(session, one.lastEventId)).rest()).toMatchObject([{ id: 1, result: { content: [{ text: 'one' }] } }]);
    expect(await (await resume(session, two.lastEventId)).rest()).toMatchObject([{ id: 2, result: { content: [{ text: 'two' }] } }]);
    expect(await statusOf(session, others.lastEventId ?? '')).toBe(400);
    expect(await statusOf(session, one.lastEventId ?? '', { authorization: 'Bearer other' })).toBe(404);
    expect(await statusOf(session, one.lastEventId ?? '', { authorization: 'Bearer bad' })).toBe(401);
    expect(await statusOf(session, one.lastEventId ?? '', { 'mcp-session-id': undefined })).toBe(400);
    await session.delete();
    expect(await statusOf(session, one.lastEventId ?? '')).toBe(404);
  });

  it.each<[string, (id: string) => string]>([
    ['nothing', () => ''],
    ['a number', () => '1'],
    ['an event that was not sent yet', (id) => id.replace(/\d+$/, '99')],
    ['a stream that was not opened', (id) => id.replace(/-\d+-/, '-99-')],
    ['a negative number', (id) => id.replace(/\d+$/, '-1')],
    ['more than a number', (id) => `${id}x`],
    ['digits without end', (id) => id.replace(/\d+$/, '9'.repeat(5000))],
    ['a property', () => '__proto__'],
  ])('is not found by an id of %s, which is refused and does no harm', async (_, change) => {
    const { open, answer } = await openStepwise();
    const session = await open();
    const reader = await startCall(session, 7);
    const response = await session.get({ 'last-event-id': change(reader.lastEventId ?? '') });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32600 } }]);
    answer();
    expect(await reader.rest()).toMatchObject([{ id: 7 }]);
  });

  it('brings a question that was asked meanwhile', async () => {
    const asks: RunnableTool = {
      name: 'asks',
      inputSchema,
      run: async (_, context) => {
        context.forwardProgress({ progress: 1 });
        await gone;
        const params = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
        const { cancellation } = context;
        return toTextResult(
          JSON.stringify(await context.ask?.({ method: 'elicitation/create', params }, { cancellation, timeoutMs: 20_000 })),
        );
      },
    };
    let leave = (): void => {};
    const gone = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const { open } = await openMcpHttp({ tools: [asks], limits: { pollAfterMs: 10 } });
    const session = await open({}, { elicitation: {} });
    const broken = new EventReader(await session.call('asks', {}, { progressToken: 't' }, 7));
    await broken.next();
    // It is certain that nobody reads when it is asked: the door has closed the stream.
    expect(await broken.rest()).toEqual([]);
    leave();
    const asked = await resume(session, broken.lastEventId);
    const question = await asked.next();
    expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Which?' } });
    await session.post({ jsonrpc: '2.0', id: question?.id, result: { action: 'decline' } });
    const answers = [...(await asked.rest()), ...(await restOf(session, asked.lastEventId))];
    expect(answers).toMatchObject([{ id: 7, result: { content: [{ text: '{"action":"decline"}' }] } }]);
  });

  it('is sent again what belongs to no request, and then what came meanwhile; nothing of what went elsewhere', async () => {
    const { open, hub } = await openMcpHttp();
    const session = await open();
    const emit = (data: string) => hub.events.emit({ method: 'notifications/message', params: note(data) });
    const broken = await session.listen();
    for (const data of ['one', 'two', 'three']) emit(data);
    expect(dataOf(await broken.next())).toBe('one');
    const seen = broken.lastEventId;
    await broken.close();
    const elsewhere = await session.listen();
    emit('elsewhere');
    expect(dataOf(await elsewhere.next())).toBe('elsewhere');
    await session.listen({ 'last-event-id': seen ?? '' }).then(async (reader) => {
      emit('new');
      expect([await reader.next(), await reader.next(), await reader.next()].map(dataOf)).toEqual(['two', 'three', 'new']);
    });
  });

  it('is ended for an agent of 2025-11-25 after a while, which comes back for the rest', async () => {
    const { open, step, answer } = await openStepwise({ limits: { pollAfterMs: 10, keepAliveMs: 20 } });
    const session = await open();
    let reader = await startCall(session, 7);
    expect(await reader.rest()).toEqual([]);
    reader = await resume(session, reader.lastEventId);
    expect(await reader.rest()).toEqual([]);
    step();
    reader = await resume(session, reader.lastEventId);
    expect(progressOf(await reader.next())).toBe(2);
    answer('done');
    const rest = [...(await reader.rest()), ...(await restOf(session, reader.lastEventId))];
    expect(rest).toMatchObject([{ id: 7, result: { content: [{ text: 'done' }] } }]);
    const general = await session.listen();
    expect(await general.rest()).toEqual([]);
    // An older agent would take that for the end.
    const older = await startCall(await open({}, {}, '2025-06-18'), 7);
    for (let beats = 0; beats < 3; beats++) expect(await older.nextBlock()).toBe(': keep-alive');
    answer();
    expect(await older.rest()).toMatchObject([{ id: 7 }]);
  });
});

describe('the HTTP door, legacy: clients of the official SDKs', () => {
  const requestInit = { headers: { authorization: 'Bearer good' } };
  const info = { name: 'agent', version: '1' };
  type Call = (args: JsonObject, onprogress: () => void) => Promise<unknown>;
  const sdks: [string, (url: URL) => Promise<Call>][] = [
    [
      'v1',
      async (url) => {
        const client = new ClientV1(info);
        onTestFinished(() => client.close());
        const transport = new TransportV1(url, { requestInit });
        await client.connect(transport as Parameters<typeof client.connect>[0]);
        return (args, onprogress) => client.callTool({ name: 'stepwise', arguments: args }, undefined, { onprogress });
      },
    ],
    [
      'v2',
      async (url) => {
        const client = new ClientV2(info);
        onTestFinished(() => client.close());
        await client.connect(new TransportV2(url, { requestInit }));
        return (args, onprogress) => client.callTool({ name: 'stepwise', arguments: args }, { onprogress });
      },
    ],
  ];

  it.each(sdks)('get their answers by polling: %s', async (_, connect) => {
    const { url, step, answer, door } = await openStepwise({ limits: { pollAfterMs: 10, retryMs: 20 } });
    const call = await connect(url);
    expect(door.sessions).toBe(1);
    let steps = 0;
    let heard = (): void => {};
    const done = call({ name: 'x' }, () => {
      steps++;
      heard();
    });
    for (let wanted = 1; wanted <= 4; wanted++) {
      if (steps < wanted)
        await new Promise<void>((resolve) => {
          heard = () => steps >= wanted && resolve();
        });
      step();
    }
    answer('!');
    expect(await done).toMatchObject({ content: [{ text: 'x!' }] });
  });
});
