// @module-tag deep
// @module-tag P-359

import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventReader, type LegacySession, messagesOf, openMcpHttp } from '../support/mcp-http.js';
import { openStepwise, resume, startCall, statusOf } from '../support/stepwise.js';

const note = (data: unknown): JsonObject => ({ level: 'info', data });
const dataOf = (message: JsonObject | undefined): unknown => (message?.params as JsonObject | undefined)?.data;

describe('the HTTP door, legacy: what is kept of streams', () => {
  it('is bounded in number; what was dropped is said, changes of lists by name', async () => {
    const { open, hub, memory, test } = await openMcpHttp({ limits: { maxSentEvents: 3 } });
    const session = await open();
    const broken = await session.listen();
    await broken.nextBlock();
    const first = broken.lastEventId ?? '';
    memory.setTools(test.tools);
    for (let line = 0; line < 6; line++) hub.events.emit({ method: 'notifications/message', params: note(line) });
    for (let line = 0; line < 7; line++) await broken.next();
    await broken.close();
    const reader = await resume(session, first);
    expect(await reader.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(dataOf(await reader.next())).toMatch(/^Dropped 4 notifications/);
    expect([await reader.next(), await reader.next(), await reader.next()].map(dataOf)).toEqual([3, 4, 5]);
    // Whoever has seen them is told of nothing.
    const up = await resume(session, first.replace(/\d+$/, '5'));
    expect([await up.next(), await up.next()].map(dataOf)).toEqual([4, 5]);
  });

  it.each([
    ['2025-11-25', false],
    ['2025-03-26', true],
  ])('is bounded in bytes; an answer that was dropped is answered with an error: %s', async (version, isBatch) => {
    const { open, answer } = await openStepwise({ limits: { maxSentBytes: 2000 } });
    const session = await open({}, {}, version);
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'stepwise', _meta: { progressToken: 't' } } };
    const broken = new EventReader(await session.post(isBatch ? [call] : call));
    await broken.next();
    await broken.close();
    answer('x'.repeat(3000));
    const lost = { id: 7, error: { code: -32015, message: expect.stringContaining('its answer') } };
    expect(await (await resume(session, broken.lastEventId)).rest()).toMatchObject([isBatch ? [lost] : lost]);
    expect((await session.request('ping')).status).toBe(200);
  });

  it('is bounded in bytes for all sessions together; the one with the most gives way', async () => {
    const { open, answer } = await openStepwise({ limits: { maxAllSentBytes: 10_000 } });
    const [small, large] = [await open(), await open()];
    const call = async (session: LegacySession, text: string): Promise<EventReader> => {
      const reader = await startCall(session, 7);
      answer(text);
      await reader.close();
      return reader;
    };
    const kept = await call(small, 'small');
    const dropped = await call(large, 'x'.repeat(6000));
    const last = await call(large, 'y'.repeat(6000));
    expect(await (await resume(small, kept.lastEventId)).rest()).toMatchObject([{ id: 7, result: {} }]);
    expect(await (await resume(large, dropped.lastEventId)).rest()).toMatchObject([{ id: 7, error: { code: -32015 } }]);
    expect(await (await resume(large, last.lastEventId)).rest()).toMatchObject([{ id: 7, result: {} }]);
  });

  it('is bounded in time, but never while its call runs', async () => {
    let now = 0;
    const { open, answer, step } = await openStepwise({ clock: () => now, limits: { sentKeptMs: 1000 } });
    const session = await open();
    const [ended, running] = [await startCall(session, 1, 'ended'), await startCall(session, 2)];
    await running.close();
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(await ended.rest()).toEqual([]);
    now = 999;
    expect(await statusOf(session, ended.lastEventId ?? '')).toBe(200);
    now = 2000;
    expect(await statusOf(session, ended.lastEventId ?? '')).toBe(400);
    step();
    answer('done');
    const rest = await (await resume(session, running.lastEventId)).rest();
    expect(rest.at(-1)).toMatchObject({ id: 2, result: { content: [{ text: 'done' }] } });
  });

  it('is small after an agent has opened 1,000 streams, read none and cancelled everything', async () => {
    const { open, answer, test, door } = await openStepwise();
    const session = await open();
    for (let stream = 0; stream < 1000; stream += 50) {
      const opened = await Promise.all(Array.from({ length: 50 }, () => session.get()));
      expect(opened.map(({ status }) => status)).toEqual(new Array(50).fill(200));
      onTestFinished(async () => void (await Promise.all(opened.map(({ body }) => body?.cancel().catch(() => {})))));
    }
    const calls = Array.from({ length: 100 }, (_, id) => session.call('wait', {}, {}, 1000 + id));
    for (let call = 0; call < calls.length; call++) await test.waiting();
    const cancel = (requestId: number) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    await Promise.all(calls.map((_, id) => session.post(cancel(1000 + id))));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(new Array(100).fill(202));
    const reader = await startCall(session, 7);
    answer('still here');
    expect(await reader.rest()).toMatchObject([{ id: 7, result: { content: [{ text: 'still here' }] } }]);
    // The first streams are forgotten, the last ones are not.
    const [prefix] = (reader.lastEventId ?? '').split('-');
    expect([await statusOf(session, `${prefix}-1-0`), await statusOf(session, `${prefix}-1000-0`)]).toEqual([400, 200]);
    expect(door.sessions).toBe(1);
  });

  it('is nothing for an answer that is plain JSON, which has no id and comes as fast as before', async () => {
    const { open } = await openMcpHttp();
    const session = await open();
    const response = await session.call('hello');
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await messagesOf(response)).toHaveLength(1);
  });
});
