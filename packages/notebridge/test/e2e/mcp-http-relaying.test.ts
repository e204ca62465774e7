import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { toTextResult } from '@notebridge/protocol/core/mcp';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import { answer } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import type { LeftSession, SessionShelf } from '@notebridge/system/files/session-shelf';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SessionRelay } from '../../src/doors/mcp/session-relay.js';
import { KeptSessions } from '../../src/identity/kept-sessions.js';
import { EventReader, initialize, type McpHttpOptions, openMcpHttp } from '../support/mcp-http.js';
import { openStepwise, resume, startCall } from '../support/stepwise.js';

/** A hub whose requests of sessions "….there" another one answers, as the test says. */
function relayingTo(send: SessionRelay['send']): McpHttpOptions {
  return {
    shelf: { leave: async () => true, take: async () => undefined },
    relay: { mark: 'here', look: (mark) => (mark === 'here' ? 'self' : 'other'), send, serve: () => () => {} },
  };
}

function createGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const there = { 'mcp-session-id': 'session.there' };
const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('a hub that relays the requests of sessions', () => {
  it('waits at its end for the calls that it relays', { tags: ['P-524'] }, async () => {
    const [reached, released] = [createGate(), createGate()];
    const { post, door } = await openMcpHttp(
      relayingTo(async (_mark, _request, answer) => {
        reached.open();
        await released.opened;
        answer.head(200, { 'content-type': 'application/json' });
        answer.data(Buffer.from('"answered"'));
      }),
    );
    const answered = post(request, there);
    await reached.opened;
    const order: string[] = [];
    const closed = door.close().then(() => order.push('closed'));
    await nextTurn();
    order.push('released');
    released.open();
    expect(await (await answered).json()).toBe('answered');
    await closed;
    expect(order).toEqual(['released', 'closed']);
  });

  it.each([
    ['cluster_unavailable', 503, '1', 'cluster_unavailable'],
    ['limit_reached', 503, '1', 'limit_reached'],
    ['message_too_large', 413, null, 'message_too_large'],
    ['hub_gone', 409, null, 'hub_gone'],
    ['cancelled', 409, null, 'closed'],
  ] as const)('has a request sent again only if it was certainly not begun: %s', { tags: ['P-601'] }, async (code, ...answered) => {
    const send = (): Promise<void> => Promise.reject(new BridgeError(code, 'So it was.'));
    const { post } = await openMcpHttp(relayingTo(send));
    const response = await post(request, there);
    const { error } = (await response.json()) as { error: { data: JsonObject } };
    expect([response.status, response.headers.get('retry-after'), error.data.code]).toEqual(answered);
  });

  it('waits for no stream that it relays', { tags: ['P-524'] }, async () => {
    const ended = createGate();
    const { url, door } = await openMcpHttp({
      ...relayingTo((_mark, _request, answer) => {
        answer.head(200, { 'content-type': 'text/event-stream' });
        return ended.opened;
      }),
      limits: { lastAnswersMs: 2 ** 30 },
    });
    const stream = await fetch(url, { headers: { ...there, accept: 'text/event-stream', authorization: 'Bearer good' } });
    expect(stream.status).toBe(200);
    await door.close();
    ended.open();
    await stream.text();
  });
});

/** The shelf of each start of one hub. */
function createShelves(): () => KeptSessions {
  const dir = mkdtempSync(join(tmpdir(), 'shelves-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return () => new KeptSessions({ dir, name: 'hub', logger: silentLogger });
}

const asks: RunnableTool = {
  name: 'asks',
  inputSchema: { type: 'object' },
  run: async (_, { ask, cancellation }) => {
    const params = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
    return toTextResult(JSON.stringify(await ask?.({ method: 'elicitation/create', params }, { cancellation, timeoutMs: 20_000 })));
  },
};

describe('a session that goes on at another hub', () => {
  it('takes back what its agent was asked, and takes no answer to that for one to what it asks now', { tags: ['P-712'] }, async () => {
    const shelf = createShelves();
    const { open, door } = await openMcpHttp({ shelf: shelf(), tools: [asks], limits: { lastAnswersMs: 10 } });
    const session = await open({}, { elicitation: {} });
    const before = new EventReader(await session.call('asks'));
    const asked = await before.next();
    await door.close();
    expect(await before.rest()).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: asked?.id } },
      { error: { data: { code: 'closed' } } },
    ]);

    const moved = session.at(await openMcpHttp({ shelf: shelf(), tools: [asks] }));
    const now = new EventReader(await moved.call('asks'));
    const askedNow = await now.next();
    const late = await moved.post({ jsonrpc: '2.0', id: asked?.id, result: { action: 'accept' } });
    expect([late.status, Number.isSafeInteger(askedNow?.id)]).toEqual([202, true]);
    await moved.post({ jsonrpc: '2.0', id: askedNow?.id, result: { action: 'decline' } });
    expect(await now.rest()).toMatchObject([{ result: toTextResult('{"action":"decline"}') }]);
  });

  it('says to an agent that comes back for an answer which the hub before had that it is lost, once', {
    tags: ['P-711', 'P-712'],
  }, async () => {
    const shelf = createShelves();
    const { open, door, answer: release } = await openStepwise({ shelf: shelf(), limits: { lastAnswersMs: 10 } });
    const session = await open();
    const read = await startCall(session, 'read "…"');
    release();
    expect(await read.rest()).toMatchObject([{ result: {} }]);
    const lost = await startCall(session, 'lost "…"');
    await lost.close();
    await door.close();

    const moved = session.at(await openMcpHttp({ shelf: shelf() }));
    const reader = await resume(moved, lost.lastEventId);
    const told = await reader.rest();
    expect(told).toMatchObject([{ id: 'lost "…"', error: { data: { code: 'closed' }, message: expect.stringContaining('unknown') } }]);
    expect(await (await resume(moved, reader.lastEventId)).rest()).toEqual([]);
    expect(await (await resume(moved, read.lastEventId)).next()).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('says for its agent what that has said of itself, and makes no call', { tags: ['P-712'] }, async () => {
    const call = { jsonrpc: '2.0', id: 'said-1', method: 'tools/call', params: { name: 'count', arguments: {} } };
    const said = [initialize('said-0'), call];
    const left: LeftSession = { principal: { kind: 'grant', grantId: 'good' }, version: '2025-11-25', said };
    const { post, test, door } = await openMcpHttp({ shelf: { leave: async () => true, take: async () => left } });
    const listed = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-session-id': 'left' });
    expect([listed.status, door.sessions, test.counted()]).toEqual([200, 1, 0]);
  });

  it('is left with no more of what its agent calls itself than others need', { tags: ['P-712'] }, async () => {
    const left: LeftSession[] = [];
    const { post, door } = await openMcpHttp({
      shelf: { leave: async (_, session) => left.push(session) > 0, take: async () => undefined },
    });
    await (await post(initialize(1, '2025-11-25', {}, 'x'.repeat(100_000)))).text();
    await door.close();
    expect(left).toMatchObject([{ said: [{ method: 'initialize', params: { clientInfo: { version: expect.any(String) } } }] }]);
    expect(JSON.stringify(left).length).toBeLessThan(1000);
  });
});

describe('a hub that ends with calls under way', () => {
  it('waits for one whose connection is away, or another', { tags: ['P-711'] }, async () => {
    const { open, door, answer: release } = await openStepwise({ limits: { lastAnswersMs: 2 ** 30 } });
    const session = await open();
    const broken = await startCall(session, 7);
    const resumed = await resume(session, broken.lastEventId);
    // Now it is certain that the connection with which it began has ended.
    expect(await broken.rest()).toEqual([]);
    const order: string[] = [];
    const closed = Promise.all([door.close(), door.settled()]).then(() => order.push('closed'));
    await nextTurn();
    order.push('released');
    release('done');
    expect(await resumed.rest()).toMatchObject([{ id: 7, result: toTextResult('done') }]);
    await closed;
    expect(order).toEqual(['released', 'closed']);
  });

  it('waits for an agent that was away when its call was answered, and comes back', { tags: ['P-711'] }, async () => {
    const limits = { lastAnswersMs: 2 ** 30, pollAfterMs: 10, retryMs: 10_000 };
    const { open, door, answer: release } = await openStepwise({ limits });
    const session = await open();
    const polled = await startCall(session, 7);
    expect(await polled.rest()).toEqual([]);
    release('done');
    const order: string[] = [];
    const closed = Promise.all([door.close(), door.settled()]).then(() => order.push('closed'));
    await nextTurn();
    order.push('back');
    expect(await (await resume(session, polled.lastEventId)).rest()).toMatchObject([{ id: 7, result: toTextResult('done') }]);
    await closed;
    expect(order).toEqual(['back', 'closed']);
  });

  it('lets the answer to a question through for its own caller, tool and arguments, once for each time it was asked', {
    tags: ['P-711'],
  }, async () => {
    const { ask, door, hub, test } = await openMcpHttp({ limits: { lastAnswersMs: 2 ** 30 } });
    let isBusy = false;
    hub.addMiddleware({
      onRequest: async (context, callNext) => {
        const { arguments: args, requestState } = context.message;
        if (!JSON.stringify(args ?? {}).includes('asks')) return callNext(context);
        if (isBusy) throw new BridgeError('limit_reached', 'Too much is under way.');
        if (requestState !== undefined) return callNext(context);
        return answer({ resultType: 'input_required', requestState: 'confirm', inputRequests: { q: { method: 'roots/list' } } });
      },
    });
    const call = (as: string, more: JsonObject = {}, args: JsonObject = {}): Promise<Response> =>
      ask('tools/call', { name: 'hello', arguments: { asks: true, ...args }, ...more }, { headers: { authorization: `Bearer ${as}` } });
    const reply = { requestState: 'confirm', inputResponses: { q: { roots: [] } } };
    const resultOf = async (response: Response): Promise<unknown> => {
      const { result, error } = (await response.json()) as { result?: { resultType: string }; error?: { data: JsonObject } };
      return result?.resultType ?? error?.data.code;
    };
    for (const as of ['good', 'good', 'other']) expect(await resultOf(await call(as))).toBe('input_required');
    const held = ask('tools/call', { name: 'wait' });
    await test.waiting();
    const ended = Promise.all([door.close(), door.settled()]);

    for (const refused of [
      call('good'),
      call('owner', reply),
      call('good', reply, { name: 'new' }),
      call('good', { requestState: 'other' }),
    ])
      expect((await refused).status).toBe(503);
    isBusy = true;
    expect(await resultOf(await call('good', reply))).toBe('limit_reached');
    isBusy = false;
    expect(await resultOf(await call('good', reply))).toBe('complete');
    expect(await resultOf(await call('good', reply))).toBe('complete');
    expect((await call('good', reply)).status).toBe(503);
    test.release();
    await held;
    let isEnded = false;
    void ended.then(() => (isEnded = true));
    await nextTurn();
    expect(isEnded).toBe(false);
    expect(await resultOf(await call('other', reply))).toBe('complete');
    await ended;
  });

  const endWithCall = async (leave: SessionShelf['leave']) => {
    const shelf: SessionShelf = { leave, take: async () => undefined };
    const { open, door, test } = await openMcpHttp({ shelf, limits: { lastAnswersMs: 10 } });
    const session = await open();
    const answered = session.call('wait');
    await test.waiting();
    await door.close();
    const { error } = (await (await answered).json()) as { error: { message: string; data: JsonObject } };
    expect(error.data.code).toBe('closed');
    return { session, message: error.message };
  };

  it('hands their sessions over, too, once their time is up', { tags: ['P-560'] }, async () => {
    const left: string[] = [];
    const leave = async (key: string, { version }: LeftSession): Promise<boolean> => left.push(`${key} ${version}`) > 0;
    const { session, message } = await endWithCall(leave);
    expect(left).toEqual([`${session.id} 2025-11-25`]);
    expect(message).toContain('another goes on with the session');
    expect(message).toContain('unknown');
  });

  it.each<[string, SessionShelf['leave']]>([
    ['is not taken', async () => false],
    ['is not answered', () => new Promise(() => {})],
  ])('says that a session is over whose hand-over %s', { tags: ['deep'] }, async (_why, leave) => {
    expect((await endWithCall(leave)).message).toContain('Start a new one');
  });
});
