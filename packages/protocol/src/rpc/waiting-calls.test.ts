import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openPeer, tooDeepText } from '../../../notebridge/test/support/open-peer.js';
import { Cancellation } from '../core/cancellation.js';
import { BridgeError, RemoteError } from '../core/errors.js';
import { parseJson, printJson } from '../exact-json.js';
import type { JsonObject } from '../json.js';

describe('Peer.request: the answer', () => {
  it('resolves with the result as it came, unknown keys and exact numbers included', async () => {
    const { peer, far } = openPeer();
    const asked = peer.request('tools/list', { cursor: 'c', x: { y: [1] } });
    expect(await far.nextText()).toBe('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"c","x":{"y":[1]}}}');
    far.send('{"jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890,"f":1.0,"_x":null},"extra":true}');
    expect(printJson(await asked)).toBe('{"n":12345678901234567890,"f":1.0,"_x":null}');
  });

  it('sends no params where there are none', async () => {
    const { peer, far } = openPeer();
    const asked = peer.request('ping', undefined);
    expect(await far.nextText()).toBe('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    far.send({ id: 1, result: {} });
    await asked;
  });

  it('gives answers to their calls in whatever order they come', async () => {
    const { peer, far } = openPeer();
    const asked = ['a', 'b', 'c'].map((method) => peer.request(method, {}));
    for (const id of [2, 3, 1]) far.send({ jsonrpc: '2.0', id, result: { id } });
    expect(await Promise.all(asked)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  it('rejects with the error as it came, unknown keys and data of any kind included', async () => {
    const { peer, far } = openPeer();
    const asked = peer.request('x', {});
    const error = { code: -32099, message: 'no', data: ['why'], hint: { a: 1 } };
    far.send({ jsonrpc: '2.0', id: 1, error });
    const thrown = await asked.catch((rejected: unknown) => rejected);
    expect(thrown).toBeInstanceOf(RemoteError);
    expect((thrown as RemoteError).raw).toEqual(error);
    expect((thrown as RemoteError).message).toBe('no');
  });

  it('takes a null error beside a result for no error', async () => {
    const { peer, far } = openPeer();
    const asked = peer.request('x', {});
    far.send({ id: 1, result: { ok: true }, error: null });
    expect(await asked).toEqual({ ok: true });
  });

  it.each([
    '{"id":1,"result":null}',
    '{"id":1,"result":"done"}',
    '{"id":1,"result":[1]}',
    '{"id":1,"result":1.0}',
    '{"id":1,"error":"boom"}',
    '{"id":1,"error":null}',
  ])('rejects with bad_message when the answer is %s', async (answer) => {
    const { peer, far } = openPeer();
    const asked = peer.request('x', {});
    far.send(answer);
    await expect(asked).rejects.toMatchObject({ code: 'bad_message' });
  });

  it('knows its id again from a peer that prints numbers as floats', async () => {
    const { peer, far } = openPeer();
    const asked = peer.request('x', {});
    far.send('{"id":1.0,"result":{}}');
    expect(await asked).toEqual({});
  });

  it.each(['"1"', '2', '-1', '1.5', '12345678901234567890', '""'])(
    'reports an answer to the foreign id %s and keeps waiting',
    async (id) => {
      const { peer, far, faults } = openPeer();
      const asked = peer.request('x', {});
      far.send(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
      expect(faults.map(({ error }) => error.code)).toEqual(['unexpected_answer']);
      expect(faults[0]?.error.message).toContain(id);
      far.send({ jsonrpc: '2.0', id: 1, result: { mine: true } });
      expect(await asked).toEqual({ mine: true });
    },
  );

  it('reports the second of two answers', async () => {
    const { peer, far, faults } = openPeer();
    const asked = peer.request('x', {});
    far.send({ jsonrpc: '2.0', id: 1, result: { n: 1 } });
    far.send({ jsonrpc: '2.0', id: 1, result: { n: 2 } });
    expect(await asked).toEqual({ n: 1 });
    expect(faults.map(({ error }) => error.code)).toEqual(['unexpected_answer']);
  });

  it('rejects at once when the params cannot be printed', async () => {
    const { peer } = openPeer();
    await expect(peer.request('x', { a: parseJson(tooDeepText) })).rejects.toMatchObject({ code: 'message_too_deep' });
  });

  it('rejects at once with the reason of a channel that takes no more', async () => {
    const { peer, far } = openPeer();
    far.refusal = new BridgeError('limit_reached', 'full');
    await expect(peer.request('x', {})).rejects.toBe(far.refusal);
  });
});

describe('Peer.request: progress', () => {
  it('is delivered before an answer that arrives in the same turn', { tags: ['P-057'] }, async () => {
    const { peer, far } = openPeer();
    const order: unknown[] = [];
    const asked = peer.request('x', {}, { onProgress: (params) => order.push(params) }).then((result) => order.push(result));
    far.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1, _x: 'kept' } });
    far.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 2 } });
    far.send({ jsonrpc: '2.0', id: 1, result: { done: true } });
    await asked;
    expect(order).toEqual([{ progressToken: 1, progress: 1, _x: 'kept' }, { progressToken: 1, progress: 2 }, { done: true }]);
  });

  it('is asked for with a token of ours; the rest of _meta stays', async () => {
    const { peer, far } = openPeer();
    const params = { name: 't', _meta: { progressToken: 'of the caller', trace: 'abc' } };
    const asked = [
      peer.request('x', params, { onProgress: () => {} }),
      peer.request('x', params),
      peer.request('x', undefined, { onProgress: () => {} }),
    ];
    expect((await far.next()).params).toEqual({ name: 't', _meta: { progressToken: 1, trace: 'abc' } });
    expect((await far.next()).params).toEqual(params);
    expect((await far.next()).params).toEqual({ _meta: { progressToken: 3 } });
    expect(params._meta.progressToken).toBe('of the caller');
    for (const id of [1, 2, 3]) far.send({ id, result: {} });
    await Promise.all(asked);
  });

  it('is dropped when it is late, foreign, or has no token', async () => {
    const { peer, far, faults, notifications } = openPeer();
    const progress: JsonObject[] = [];
    const asked = peer.request('x', {}, { onProgress: (params) => progress.push(params) });
    for (const params of ['{"progressToken":"1"}', '{"progressToken":7}', '{}', 'null', '[]', '{"progressToken":{"valueOf":1}}']) {
      far.send(`{"method":"notifications/progress","params":${params}}`);
    }
    far.send({ method: 'notifications/progress' });
    far.send({ id: 1, result: {} });
    far.send({ method: 'notifications/progress', params: { progressToken: 1 } });
    await asked;
    expect([progress, faults, notifications]).toEqual([[], [], []]);
  });
});

describe('Peer.request: cancellation', () => {
  it('notifies the other side, with the reason, and rejects', async () => {
    const { peer, far, faults } = openPeer();
    const cancellation = new Cancellation();
    const asked = peer.request('slow', {}, { cancellation });
    await far.next();
    cancellation.cancel('the user pressed stop');
    await expect(asked).rejects.toMatchObject({ code: 'cancelled', message: '"slow" was cancelled: the user pressed stop' });
    expect(await far.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: 'the user pressed stop' },
    });
    far.send({ id: 1, result: {} });
    expect(faults.map(({ error }) => error.code)).toEqual(['unexpected_answer']);
  });

  it('sends nothing for a request that was cancelled before', async () => {
    const { peer, far } = openPeer();
    const cancellation = new Cancellation();
    cancellation.cancel('too late');
    await expect(peer.request('x', {}, { cancellation })).rejects.toMatchObject({ code: 'cancelled' });
    expect(await far.settled()).toEqual([]);
  });

  it('sends nothing for a request that has been answered', async () => {
    const { peer, far } = openPeer();
    const cancellation = new Cancellation();
    const asked = peer.request('x', {}, { cancellation });
    far.send({ id: 1, result: {} });
    await asked;
    cancellation.cancel('too late');
    expect(await far.settled()).toHaveLength(1);
  });

  it('rejects even if the other side can no longer be notified', async () => {
    const { peer, far, unsent } = openPeer();
    const cancellation = new Cancellation();
    const asked = peer.request('x', {}, { cancellation });
    far.refusal = new BridgeError('limit_reached', 'full');
    cancellation.cancel('stop');
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
    expect(unsent).toEqual([far.refusal]);
  });
});

describe('Peer.request: time-out', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('rejects, and notifies the other side', async () => {
    const { peer, far } = openPeer();
    const asked = expect(peer.request('slow', {}, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'timeout' });
    vi.advanceTimersByTime(99);
    expect(peer.inFlight.waiting).toBe(1);
    vi.advanceTimersByTime(1);
    await asked;
    const [, cancelled] = await far.settled();
    expect(cancelled).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: expect.stringContaining('100 ms') },
    });
  });

  it('starts anew with each progress', async () => {
    const { peer, far } = openPeer();
    const asked = expect(peer.request('slow', {}, { timeoutMs: 100, onProgress: () => {} })).rejects.toMatchObject({ code: 'timeout' });
    for (let step = 0; step < 5; step++) {
      vi.advanceTimersByTime(90);
      far.send({ method: 'notifications/progress', params: { progressToken: 1, progress: step } });
    }
    expect(peer.inFlight.waiting).toBe(1);
    vi.advanceTimersByTime(100);
    await asked;
  });

  it('leaves no timer behind when the answer came', async () => {
    const { peer, far } = openPeer();
    const asked = peer.request('x', {}, { timeoutMs: 100 });
    far.send({ id: 1, result: {} });
    await asked;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits as long as a timer can when it is asked for longer', async () => {
    const { peer, far } = openPeer();
    const asked = peer.request('x', {}, { timeoutMs: Number.POSITIVE_INFINITY });
    vi.advanceTimersByTime(24 * 60 * 60 * 1000);
    far.send({ id: 1, result: { patient: true } });
    expect(await asked).toEqual({ patient: true });
  });
});
