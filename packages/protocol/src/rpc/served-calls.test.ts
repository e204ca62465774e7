import { describe, expect, it, vi } from 'vitest';
import { openPeer, tooDeepText } from '../../../notebridge/test/support/open-peer.js';
import type { Cancellation } from '../core/cancellation.js';
import { BridgeError, RemoteError } from '../core/errors.js';
import { parseJson } from '../exact-json.js';
import type { JsonObject } from '../json.js';
import type { RpcRequest } from './messages.js';

/** Answers when the test says so. */
class Manual {
  readonly calls: { request: RpcRequest; call: Cancellation; answer: (result: JsonObject) => void; fail: (error: unknown) => void }[] = [];
  readonly onRequest = (request: RpcRequest, call: Cancellation): Promise<JsonObject> =>
    new Promise((answer, fail) => void this.calls.push({ request, call, answer, fail }));
}

describe('a request of the other side: its id', () => {
  const ids = [
    '0',
    '1',
    '"1"',
    '-7',
    '1.5',
    '1.0',
    '-0',
    '1e400',
    '12345678901234567890',
    '9007199254740993',
    '""',
    '" "',
    '"n1.0"',
    '"s1"',
    '"ключ-🗝️"',
    '"\\u0000\\n\\""',
    '"__proto__"',
  ];

  it.each(ids)('%s comes back unchanged', async (id) => {
    const { far } = openPeer();
    far.send(`{"jsonrpc":"2.0","id":${id},"method":"x"}`);
    expect(await far.nextText()).toBe(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
  });

  it('distinguishes ids that only look alike, and cancels the one that is meant', async () => {
    const manual = new Manual();
    const { far } = openPeer({ onRequest: manual.onRequest });
    for (const id of ids) far.send(`{"id":${id},"method":"x"}`);
    expect(manual.calls).toHaveLength(ids.length);
    far.send('{"method":"notifications/cancelled","params":{"requestId":"1"}}');
    far.send('{"method":"notifications/cancelled","params":{"requestId":1.0}}');
    expect(ids.filter((_, index) => manual.calls[index]?.call.reason !== undefined)).toEqual(['"1"', '1.0']);
    for (const { answer } of manual.calls) answer({});
    expect(await far.settled()).toHaveLength(ids.length - 2);
  });

  it('is refused while a request with the same id runs', async () => {
    const manual = new Manual();
    const { far } = openPeer({ onRequest: manual.onRequest });
    far.send({ id: 'a', method: 'x' });
    far.send({ id: 'a', method: 'x' });
    expect(await far.next()).toMatchObject({ id: 'a', error: { code: -32600, data: { code: 'bad_message' } } });
    manual.calls[0]?.answer({ first: true });
    expect(await far.next()).toMatchObject({ id: 'a', result: { first: true } });
    far.send({ id: 'a', method: 'x' });
    manual.calls[1]?.answer({ again: true });
    expect(await far.next()).toMatchObject({ id: 'a', result: { again: true } });
  });
});

describe('a request of the other side: what it is made of', () => {
  it('is handed over whole: unknown keys, array params, no jsonrpc', async () => {
    const onRequest = vi.fn(async (_: RpcRequest): Promise<JsonObject> => ({}));
    const { far } = openPeer({ onRequest });
    const request = { id: 1, method: 'x', params: [1, 2], extra: { key: true } };
    far.send(request);
    expect(onRequest.mock.calls[0]?.[0]).toEqual(request);
    await far.next();
  });

  it('has no params where a peer says null', async () => {
    const onRequest = vi.fn(async (_: RpcRequest): Promise<JsonObject> => ({}));
    const { far } = openPeer({ onRequest });
    far.send({ jsonrpc: '2.0', id: 1, method: 'x', params: null });
    expect(onRequest.mock.calls[0]?.[0]).toEqual({ jsonrpc: '2.0', id: 1, method: 'x' });
    await far.next();
  });
});

describe('a request of the other side: its answer', () => {
  const answerOf = async (onRequest: (request: RpcRequest) => Promise<JsonObject>): Promise<JsonObject> => {
    const { far } = openPeer({ onRequest });
    far.send({ id: 1, method: 'x' });
    const answer = await far.next();
    expect(await far.settled()).toHaveLength(1);
    return answer;
  };

  it('is the error of a remote peer as it came', async () => {
    const raw = { code: 7, message: 'no', data: null, hint: 'kept' };
    expect((await answerOf(() => Promise.reject(new RemoteError(raw)))).error).toEqual(raw);
  });

  it('is an error of ours with its code and data', async () => {
    const error = new BridgeError('bad_params', 'name it', { data: { param: 'name' } });
    expect((await answerOf(() => Promise.reject(error))).error).toEqual({
      code: -32602,
      message: 'name it',
      data: { param: 'name', code: 'bad_params' },
    });
  });

  it.each([new TypeError('secret detail'), 'secret detail', undefined, { message: 'secret detail' }])(
    'hides what was thrown: %s',
    async (thrown) => {
      const answer = await answerOf(() => Promise.reject(thrown));
      expect(answer.error).toEqual({ code: -32603, message: 'Internal error', data: { code: 'internal' } });
    },
  );

  it('is an error when the handler throws before it gives a promise', async () => {
    const answer = await answerOf(() => {
      throw new BridgeError('bad_params', 'at once');
    });
    expect(answer).toMatchObject({ id: 1, error: { message: 'at once' } });
  });

  it.each([undefined, null, 'text', [1]])('is an error when the handler gives %s in place of an object', async (result) => {
    expect(await answerOf(async () => result as never)).toMatchObject({ id: 1, error: { code: -32603 } });
  });

  it('is a clear error when the result cannot be printed', async () => {
    const answer = await answerOf(async () => ({ deep: parseJson(tooDeepText) }));
    expect(answer.error).toMatchObject({ message: 'The message is nested too deeply.', data: { code: 'message_too_deep' } });
  });

  it('is a clear error when the error cannot be printed', async () => {
    const answer = await answerOf(() => Promise.reject(new RemoteError({ code: 1, message: 'x', data: parseJson(tooDeepText) })));
    expect(answer.error).toMatchObject({ data: { code: 'message_too_deep' } });
  });

  it('is dropped and reported when the other side takes no more', async () => {
    const { far, unsent } = openPeer();
    far.refusal = new BridgeError('limit_reached', 'full');
    far.send({ id: 1, method: 'x' });
    expect(await far.settled()).toEqual([]);
    expect(unsent).toEqual([far.refusal]);
  });
});

describe('a request of the other side: cancellation', () => {
  it('reaches the handler with its reason, and nothing is answered', { tags: ['P-057'] }, async () => {
    const manual = new Manual();
    const { far, notifications } = openPeer({ onRequest: manual.onRequest });
    far.send({ id: 'a', method: 'x' });
    far.send({ id: 'b', method: 'x' });
    far.send({ method: 'notifications/cancelled', params: { requestId: 'a', reason: 'enough' } });
    far.send({ method: 'notifications/cancelled', params: { requestId: 'b' } });
    const [a, b] = manual.calls;
    expect([a?.call.reason, b?.call.reason]).toEqual(['enough', 'the caller cancelled it']);
    a?.answer({});
    b?.fail(new Error('stopped'));
    expect(await far.settled()).toEqual([]);
    expect(notifications).toEqual([]);
  });

  it('keeps its place in the limit until the handler has ended', async () => {
    const manual = new Manual();
    const { peer, far } = openPeer({ onRequest: manual.onRequest });
    far.send({ id: 1, method: 'x' });
    far.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(peer.inFlight.serving).toBe(1);
    manual.calls[0]?.answer({});
    await far.settled();
    expect(peer.inFlight.serving).toBe(0);
  });

  it.each(['{"requestId":9}', '{"requestId":null}', '{"requestId":{"toString":1,"valueOf":1}}', '{"requestId":[1]}', '{}', 'null', '[]'])(
    'the cancellation of nothing that runs is ignored: %s',
    async (params) => {
      const manual = new Manual();
      const { far, notifications, faults } = openPeer({ onRequest: manual.onRequest });
      far.send({ id: 1, method: 'x' });
      far.send(`{"method":"notifications/cancelled","params":${params}}`);
      manual.calls[0]?.answer({});
      expect(await far.next()).toMatchObject({ id: 1, result: {} });
      expect([notifications, faults]).toEqual([[], []]);
    },
  );

  it('has a reason of ours where the given one is no text', async () => {
    const manual = new Manual();
    const { far } = openPeer({ onRequest: manual.onRequest });
    far.send({ id: 1, method: 'x' });
    far.send({ method: 'notifications/cancelled', params: { requestId: 1, reason: { toString: 1 } } });
    expect(manual.calls[0]?.call.reason).toBe('the caller cancelled it');
    manual.calls[0]?.answer({});
    await far.settled();
  });
});

describe('a request of the other side: the limit', () => {
  it('refuses what is beyond, and takes more when one has ended', async () => {
    const manual = new Manual();
    const { far } = openPeer({ onRequest: manual.onRequest, maxInFlight: 2 });
    for (const id of [1, 2, 3]) far.send({ id, method: 'x' });
    expect(await far.next()).toMatchObject({ id: 3, error: { code: -32015, data: { code: 'limit_reached' } } });
    manual.calls[0]?.answer({});
    expect(await far.next()).toMatchObject({ id: 1, result: {} });
    far.send({ id: 4, method: 'x' });
    expect(manual.calls.map(({ request }) => request.id)).toEqual([1, 2, 4]);
    for (const { answer } of manual.calls) answer({});
    await far.settled();
  });
});
