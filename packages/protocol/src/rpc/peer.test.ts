import { describe, expect, it } from 'vitest';
import { openPeer, tooDeepText } from '../../../notebridge/test/support/open-peer.js';
import { BridgeError } from '../core/errors.js';
import { parseJson } from '../exact-json.js';
import type { JsonObject } from '../json.js';
import { createChannelPair } from './message-stream.js';
import { Peer } from './peer.js';

const never = (): Promise<JsonObject> => new Promise(() => {});

describe('Peer: batches', () => {
  it('answers all requests of a batch in one array, in the order in which they ended', async () => {
    const { far } = openPeer({
      onRequest: async ({ method }) => {
        if (method === 'slow') await Promise.resolve();
        return { method };
      },
    });
    far.send([
      { id: 1, method: 'slow' },
      { id: '1', method: 'quick' },
    ]);
    expect(JSON.parse(await far.nextText())).toEqual([
      { jsonrpc: '2.0', id: '1', result: { method: 'quick' } },
      { jsonrpc: '2.0', id: 1, result: { method: 'slow' } },
    ]);
  });

  it('takes requests, notifications, answers and faults mixed', async () => {
    const { peer, far, notifications, faults } = openPeer();
    const asked = peer.request('ours', {});
    await far.next();
    far.send([{ method: 'notifications/x' }, { id: 1, result: { ours: true } }, 7, { id: 'a', method: 'theirs' }, { id: 'b' }]);
    expect(JSON.parse(await far.nextText())).toEqual([{ jsonrpc: '2.0', id: 'a', result: {} }]);
    expect(await asked).toEqual({ ours: true });
    expect(notifications).toEqual([{ method: 'notifications/x' }]);
    expect(faults.map(({ error, id }) => [error.code, id])).toEqual([
      ['bad_message', null],
      ['bad_message', 'b'],
    ]);
  });

  it('leaves a cancelled element out', async () => {
    const { far } = openPeer({ onRequest: (_, call) => new Promise((resolve) => call.onCancel(() => resolve({}))) });
    far.send([
      { id: 1, method: 'x' },
      { method: 'notifications/cancelled', params: { requestId: 1 } },
    ]);
    expect(await far.settled()).toEqual([]);
    far.send([
      { id: 2, method: 'x' },
      { id: 2, method: 'x' },
      { method: 'notifications/cancelled', params: { requestId: 2 } },
    ]);
    expect(await far.settled()).toMatchObject([[{ id: 2, error: { code: -32600 } }]]);
  });

  it('does not answer a batch of notifications', async () => {
    const { far, notifications } = openPeer();
    far.send([{ method: 'a' }, { method: 'b' }]);
    expect(notifications).toHaveLength(2);
    expect(await far.settled()).toEqual([]);
  });

  it('reports an empty batch', () => {
    const { far, faults } = openPeer();
    far.send('[]');
    expect(faults).toMatchObject([{ error: { code: 'bad_message' }, id: null }]);
  });

  it('sends the good answers when one of them cannot be printed', async () => {
    const { far } = openPeer({ onRequest: async ({ method }) => (method === 'deep' ? { a: parseJson(tooDeepText) } : {}) });
    far.send([
      { id: 1, method: 'deep' },
      { id: 2, method: 'x' },
    ]);
    expect(await far.settled()).toMatchObject([
      { id: 1, error: { data: { code: 'message_too_deep' } } },
      { id: 2, result: {} },
    ]);
  });

  it('refuses what is beyond the limit inside a batch', async () => {
    const { far } = openPeer({ maxInFlight: 1 });
    far.send([
      { id: 1, method: 'x' },
      { id: 2, method: 'x' },
    ]);
    expect(await far.settled()).toMatchObject([
      [
        { id: 2, error: { data: { code: 'limit_reached' } } },
        { id: 1, result: {} },
      ],
    ]);
  });
});

describe('Peer: frames that cannot be used', { tags: ['P-058'] }, () => {
  const cases: [string, string, unknown][] = [
    ['null', 'bad_message', null],
    ['1.0', 'bad_message', null],
    ['"text"', 'bad_message', null],
    ['{}', 'bad_message', null],
    ['{"id":5}', 'bad_message', 5],
    ['{"id":5,"method":7}', 'bad_message', 5],
    ['{"id":null,"method":"x"}', 'bad_message', null],
    ['{"id":true,"method":"x"}', 'bad_message', null],
    ['{"id":{"valueOf":1},"method":"x"}', 'bad_message', null],
    ['{"id":{"toString":1,"toJSON":1,"length":1},"method":"x"}', 'bad_message', null],
    [`{"id":${tooDeepText},"method":"x"}`, 'bad_message', null],
    [`[${tooDeepText}]`, 'bad_message', null],
    ['{"id":5,"method":"x","params":"text"}', 'bad_message', 5],
    ['{"id":5,"method":"x","params":1.0}', 'bad_message', 5],
    ['{"method":"x","params":false}', 'bad_message', null],
    ['{"result":{}}', 'unexpected_answer', null],
    ['{"id":null,"error":{"code":-32700,"message":"x"}}', 'unexpected_answer', null],
    ['{"id":[],"error":{}}', 'unexpected_answer', null],
  ];
  it.each(cases.map(([text, ...rest]) => [text.slice(0, 60), { text, rest }] as const))(
    'reports %s and goes on',
    async (_, { text, rest }) => {
      const { far, faults } = openPeer();
      far.send(text);
      expect(faults.map(({ error, id }) => [error.code, id])).toEqual([rest]);
      expect(faults[0]?.error.message.length).toBeLessThan(200);
      far.send({ id: 1, method: 'x' });
      expect(await far.next()).toMatchObject({ id: 1, result: {} });
    },
  );
});

describe('Peer: notifications', () => {
  it('hands on what is neither progress nor cancellation, whole', () => {
    const { far, notifications } = openPeer();
    const sent = [{ jsonrpc: '2.0', method: 'notifications/x', params: { a: 1 }, extra: 1 }, { method: '' }, { method: 'y', params: [1] }];
    for (const notification of sent) far.send(notification);
    expect(notifications).toEqual(sent);
  });

  it('drops and reports one of ours that cannot be sent', async () => {
    const { peer, far, unsent } = openPeer();
    peer.notify('x', { a: parseJson(tooDeepText) });
    peer.notify('y');
    expect(await far.settled()).toEqual([{ jsonrpc: '2.0', method: 'y' }]);
    expect(unsent).toMatchObject([{ code: 'message_too_deep' }]);
  });

  it('sends an error that answers nothing', async () => {
    const { peer, far } = openPeer();
    peer.sendFault(new BridgeError('bad_json', 'Not JSON'), null);
    expect(await far.next()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, message: 'Not JSON', data: { code: 'bad_json' } },
    });
  });
});

describe('Peer: the end', () => {
  it.each(['near', 'far'])('rejects all that waits, and cancels all that runs, when the %s side closes', async (side) => {
    const reasons: string[] = [];
    const { peer, far, closed } = openPeer({ onRequest: (_, call) => new Promise(() => call.onCancel((reason) => reasons.push(reason))) });
    const asked = Promise.allSettled([peer.request('a', {}), peer.request('b', {}, { timeoutMs: 1000 })]);
    far.send({ id: 1, method: 'x' });
    const reason = new BridgeError('page_gone', 'gone');
    if (side === 'near') peer.close(reason);
    else far.close(reason);
    expect(await asked).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    expect(reasons).toEqual(['the connection was closed']);
    expect(closed).toEqual([reason]);
    await expect(peer.request('c', {})).rejects.toBe(reason);
  });

  it('has a reason of its own where none is given', async () => {
    const there = openPeer();
    there.far.close();
    await expect(there.peer.request('x', {})).rejects.toMatchObject({ code: 'closed', message: 'The other side closed the connection.' });
    const here = openPeer();
    here.peer.close();
    await expect(here.peer.request('x', {})).rejects.toMatchObject({ code: 'closed', message: 'The connection was closed.' });
  });

  it('may come twice, from either side, and is reported once', () => {
    const { peer, far, closed } = openPeer();
    peer.close();
    peer.close();
    far.close();
    expect(closed).toHaveLength(1);
    expect(far.hungUp).toBe(true);
  });

  it('sends no answer to what was running', async () => {
    let answer = (_: JsonObject): void => {};
    const { peer, far } = openPeer({ onRequest: () => new Promise((resolve) => (answer = resolve)) });
    far.send([{ id: 1, method: 'x' }]);
    peer.close();
    answer({});
    expect(await far.settled()).toEqual([]);
  });

  it('serves nothing that still arrives, not even the rest of a batch', async () => {
    const hangUp = (): JsonObject => {
      peer.close();
      return {};
    };
    const { peer, far, notifications, faults } = openPeer({ onRequest: async () => hangUp() });
    far.send([{ id: 1, method: 'x' }, { id: 2, method: 'x' }, { method: 'y' }]);
    far.send({ id: 3, method: 'x' });
    far.send('{}');
    expect(await far.settled()).toEqual([]);
    expect([notifications, faults]).toEqual([[], []]);
  });
});

describe('two peers over one pair of channels', () => {
  it('call each other at once, and stop together', async () => {
    const [left, right] = createChannelPair();
    const options = { onNotification: () => {}, onFault: () => {} };
    const a = new Peer({ ...options, channel: left, onRequest: async ({ params = {} }) => ({ ...params, seenBy: 'a' }) });
    const b: Peer = new Peer({
      ...options,
      channel: right,
      onRequest: ({ method, params }) => (method === 'stay' ? never() : b.request('and back', params)),
    });
    expect(await Promise.all([a.request('there', { n: 1 }), b.request('there', { n: 2 })])).toEqual([
      { n: 1, seenBy: 'a' },
      { n: 2, seenBy: 'a' },
    ]);
    const stays = expect(a.request('stay', {})).rejects.toMatchObject({ code: 'closed' });
    b.close();
    await stays;
    expect([a.inFlight, b.inFlight]).toEqual(Array(2).fill({ waiting: 0, serving: 0 }));
  });

  it('serves what was sent before it was there', async () => {
    const [left, right] = createChannelPair();
    const options = { onNotification: () => {}, onFault: () => {} };
    const a = new Peer({ ...options, channel: left, onRequest: never });
    const asked = a.request('early', {});
    new Peer({ ...options, channel: right, onRequest: async ({ method }) => ({ method }) });
    expect(await asked).toEqual({ method: 'early' });
  });
});
