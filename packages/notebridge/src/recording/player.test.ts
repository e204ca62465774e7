import type { JsonObject } from '@notebridge/protocol/json';
import { createChannelPair } from '@notebridge/protocol/rpc/message-stream';
import { describe, expect, it } from 'vitest';
import { Player } from './player.js';
import type { RecordedEntry } from './read-recording.js';
import { toScript } from './script.js';

type Said = [from: 'client' | 'server', message: JsonObject, t?: number] | ['end', 'client' | 'server', string?];

function toEntries(said: readonly Said[]): RecordedEntry[] {
  return said.map((one, index): RecordedEntry => {
    const place = { line: index + 2, session: 1 };
    if (one[0] === 'end')
      return { ...place, t: index, kind: 'end', ended: one[1] as 'client' | 'server', error: one[2] as string | undefined };
    return { ...place, t: (one[2] as number | undefined) ?? index, kind: 'message', from: one[0], message: one[1] as JsonObject };
  });
}

/** Replays what was said; `heard` is what the client gets. */
function replay(said: readonly Said[], timing: 'fast' | 'recorded' = 'fast') {
  const [near, far] = createChannelPair();
  const heard: JsonObject[] = [];
  const watchers = new Set<() => void>();
  const player = new Player({ script: toScript(toEntries(said)), channel: near, timing });
  far.incoming.consume({
    onItem: (message) => {
      heard.push(message as JsonObject);
      for (const watch of watchers) watch();
    },
  });
  const send = (message: JsonObject): void => far.outgoing.send(message);
  const until = (isSo: () => boolean) =>
    new Promise<void>((resolve) => {
      const watch = (): void => void (isSo() && resolve());
      watchers.add(watch);
      watch();
    });
  return { player, heard, send, until, leave: () => far.outgoing.close() };
}

const call = (id: number, x: unknown, _meta?: JsonObject): JsonObject => ({
  id,
  method: 'tools/call',
  params: { name: 't', arguments: { x }, ...(_meta && { _meta }) },
});
const result = (id: number, text: string): JsonObject => ({ id, result: { text } });
const settled = () => new Promise(setImmediate);

describe('Player', () => {
  it('answers equal requests in their order, with the ids of now, and tells of one that comes once more', { tags: ['P-411'] }, () => {
    const { heard, send, player } = replay([
      ['client', call(1, 'a')],
      ['server', result(1, 'first')],
      ['client', call(2, 'a')],
      ['server', { id: 2, error: { code: -32000, message: 'no', data: { kept: 1 } } }],
    ]);
    for (const id of [71, 72, 73]) send(call(id, 'a', { progressToken: id, trace: 'x' }));
    expect(heard).toEqual([
      result(71, 'first'),
      { id: 72, error: { code: -32000, message: 'no', data: { kept: 1 } } },
      { id: 73, error: { code: -32000, message: 'no', data: { kept: 1 } } },
    ]);
    expect(player.report).toEqual({
      recorded: 2,
      replayed: 2,
      divergences: ['"tools/call" of line 4 came once more than recorded, and got the same answer again.'],
    });
  });

  it('refuses what was not recorded, and names what is nearest', { tags: ['P-413'] }, () => {
    const { heard, send, player } = replay([
      ['client', call(1, { far: true })],
      ['server', result(1, 'far')],
      ['client', call(2, 'near')],
      ['server', result(2, 'near')],
    ]);
    send(call(1, 'nearby'));
    send({ id: 2, method: 'prompts/get', params: { name: 'p' } });
    send({ id: 3, method: 'server/discover' });
    send({ id: 4, method: 'ping' });
    expect(heard).toMatchObject([
      {
        id: 1,
        error: {
          code: -32602,
          message:
            '"tools/call" was not recorded with these params. The nearest stands in line 4: there "arguments.x" is "near", here "nearby".',
          data: { code: 'not_recorded', line: 4 },
        },
      },
      { id: 2, error: { code: -32601, message: '"prompts/get" was not recorded. Recorded were: tools/call.' } },
      { id: 3, error: { code: -32601 } },
      { id: 4, result: {} },
    ]);
    expect(player.report.divergences).toEqual([
      expect.stringContaining('The nearest stands in line 4'),
      expect.stringContaining('"prompts/get" was not recorded'),
      '"tools/call" of "t" of line 2 was not made.',
      '"tools/call" of "t" of line 4 was not made.',
    ]);
  });

  it('takes what was redacted for any text, and 1 for 1.0', () => {
    const { heard, send } = replay([
      ['client', call(1, 'key [redacted] of [redacted]!')],
      ['server', result(1, 'yes')],
    ]);
    send(call(1, 'key abc of me!'));
    send(call(2, 'key abc of me'));
    expect(heard).toMatchObject([result(1, 'yes'), { id: 2, error: { data: { code: 'not_recorded' } } }]);
  });

  it('sends progress under the token of now, and none to who did not ask for it', () => {
    const progress = (progressToken: unknown, n: number): JsonObject => ({
      method: 'notifications/progress',
      params: { progressToken, n },
    });
    const said: Said[] = [
      ['client', call(1, 'a', { progressToken: 'p1' })],
      ['client', call(2, 'b', { progressToken: 'p2' })],
      ['server', progress('p1', 1)],
      ['server', progress('p2', 2)],
      ['server', result(1, 'a')],
      ['server', result(2, 'b')],
    ];
    const { heard, send } = replay(said);
    send(call(8, 'b', { progressToken: 'new' }));
    send(call(9, 'a'));
    expect(heard).toEqual([progress('new', 2), result(8, 'b'), result(9, 'a')]);
  });

  it('sends what belongs to no request behind the message that came before it', async () => {
    const changed = { method: 'notifications/tools/list_changed' };
    const { heard, send } = replay([
      ['server', { method: 'notifications/message', params: { data: 'hello' } }],
      ['client', { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } }],
      ['server', { id: 1, result: { protocolVersion: '2025-06-18' } }],
      ['client', { method: 'notifications/initialized' }],
      ['server', changed],
    ]);
    await settled();
    expect(heard).toEqual([{ method: 'notifications/message', params: { data: 'hello' } }]);
    send({ id: 5, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
    expect(heard.slice(1)).toEqual([{ id: 5, result: { protocolVersion: '2025-06-18' } }]);
    send({ method: 'notifications/initialized' });
    expect(heard.slice(2)).toEqual([changed]);
  });

  it('asks the client, waits for its answer, and tells where it is another one', { tags: ['P-411'] }, async () => {
    const ask = { id: 'q', method: 'elicitation/create', params: { message: 'Name?' } };
    const { heard, send, player } = replay([
      ['client', call(1, 'a')],
      ['server', ask],
      ['client', { id: 'q', result: { action: 'accept', content: { name: 'Ada' } } }],
      ['server', result(1, 'Hello Ada')],
    ]);
    send(call(7, 'a'));
    await settled();
    expect(heard).toEqual([{ ...ask, id: 'replay-1' }]);
    send({ id: 'replay-1', result: { action: 'accept', content: { name: 'Bob' } } });
    await settled();
    expect(heard[1]).toEqual(result(7, 'Hello Ada'));
    expect(player.report.divergences).toEqual([
      '"elicitation/create" of line 3 was answered in another way: "result.content.name" was "Ada", and is "Bob".',
    ]);
  });

  it('answers a call of the modern era that is made again with other answers, and tells so', { tags: ['P-411'] }, () => {
    const again = (id: number, name: string): JsonObject => ({
      id,
      method: 'tools/call',
      params: { name: 't', inputResponses: { form: { name } }, requestState: 's' },
    });
    const { heard, send, player } = replay([
      ['client', again(1, 'Ada')],
      ['server', result(1, 'Hello')],
    ]);
    send(again(2, 'Bob'));
    expect(heard).toEqual([result(2, 'Hello')]);
    expect(player.report.divergences).toEqual(['"tools/call" came with other answers than in line 2.']);
  });

  it('tells a listen by its own id what it was told, and answers it never', () => {
    const key = 'io.modelcontextprotocol/subscriptionId';
    const listen = (id: number) => ({ id, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } });
    const said = (method: string, id: number) => ({ method, params: { _meta: { [key]: id } } });
    const { heard, send } = replay([
      ['client', listen(1)],
      ['client', call(2, 'a')],
      ['server', said('notifications/subscriptions/acknowledged', 1)],
      ['server', said('notifications/tools/list_changed', 1)],
      ['server', result(2, 'a')],
      ['server', result(1, 'over')],
    ]);
    send(listen(50));
    send(call(51, 'a'));
    send({ method: 'notifications/cancelled', params: { requestId: 50 } });
    send(call(52, 'a'));
    expect(heard).toEqual([
      said('notifications/subscriptions/acknowledged', 50),
      said('notifications/tools/list_changed', 50),
      result(51, 'a'),
      result(52, 'a'),
    ]);
  });

  it('answers a look that was broken off once as another time', () => {
    const { heard, send } = replay([
      ['client', { id: 1, method: 'tools/list' }],
      ['end', 'client'],
      ['client', { id: 2, method: 'tools/list' }],
      ['server', result(2, 'all')],
    ]);
    send({ id: 5, method: 'tools/list', params: {} });
    expect(heard).toEqual([result(5, 'all')]);
  });

  it('has no answer to what was cancelled, and says so where the server or the recording ended', () => {
    const { heard, send } = replay([
      ['client', call(1, 'cancelled')],
      ['client', { method: 'notifications/cancelled', params: { requestId: 1 } }],
      ['client', call(2, 'crash')],
      ['end', 'server', 'exit code 1'],
    ]);
    send(call(1, 'cancelled'));
    send(call(2, 'crash'));
    expect(heard).toMatchObject([
      {
        id: 2,
        error: { message: 'There is no answer to this: the server ended here (exit code 1), line 5.', data: { code: 'not_recorded' } },
      },
    ]);
    const cut = replay([['client', call(1, 'a')]]);
    cut.send(call(1, 'a'));
    expect(cut.heard).toMatchObject([{ error: { message: 'There is no answer to this: the recording ends before it was answered.' } }]);
  });

  it('answers nothing to a call that is cancelled while it waits for the client', async () => {
    const { heard, send } = replay([
      ['client', call(1, 'a')],
      ['server', { id: 'q', method: 'roots/list' }],
      ['client', { id: 'q', result: { roots: [] } }],
      ['server', result(1, 'a')],
    ]);
    send(call(7, 'a'));
    send({ method: 'notifications/cancelled', params: { requestId: 7 } });
    send({ id: 'replay-1', result: { roots: [] } });
    await settled();
    expect(heard).toEqual([{ id: 'replay-1', method: 'roots/list' }]);
  });

  it('makes the pauses of the recording only if asked to, and drops them when the client goes', { tags: ['P-419'] }, async () => {
    const said: Said[] = [
      ['client', call(1, 'a'), 1000],
      ['server', result(1, 'a'), 1120],
      ['client', call(2, 'b'), 2000],
      ['server', result(2, 'b'), 3_600_000],
    ];
    const fast = replay(said);
    fast.send(call(1, 'b'));
    expect(fast.heard).toEqual([result(1, 'b')]);
    const slow = replay(said, 'recorded');
    const began = performance.now();
    slow.send(call(1, 'a'));
    slow.send(call(2, 'b'));
    expect(slow.heard).toEqual([]);
    await slow.until(() => slow.heard.length === 1);
    // Timers of Node may come a millisecond early.
    expect(performance.now() - began).toBeGreaterThan(115);
    slow.leave();
    await slow.player.closed;
    expect(slow.heard).toEqual([result(1, 'a')]);
  });

  it('survives what is no message', () => {
    const { heard, send } = replay([
      ['client', call(1, 'a')],
      ['server', result(1, 'a')],
    ]);
    let deep: JsonObject = {};
    for (let n = 0; n < 200_000; n++) deep = { deep };
    send({ id: 3 });
    send({ id: 'replay-9', result: {} });
    send(call(4, deep));
    send(call(5, 'a'));
    expect(heard).toMatchObject([{ id: 3, error: { code: -32600 } }, { id: 4, error: {} }, result(5, 'a')]);
  });
});
