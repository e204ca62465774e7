import { parseJson, printJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { createChannelPair } from '@notebridge/protocol/rpc/message-stream';
import { parseFrame } from '@notebridge/protocol/rpc/messages';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { describe, expect, it } from 'vitest';
import { Recorder } from './recorder.js';

/** A recorder with the server's end of a connection, and the lines that it has written. */
function open({ maxBytes = 1024 * 1024, failsAt = Number.POSITIVE_INFINITY } = {}) {
  const redactor = new Redactor();
  redactor.add('the hidden one');
  let text = '';
  let appends = 0;
  const stops: string[] = [];
  const file = {
    path: 'it.jsonl',
    append: (lines: string) => {
      if (++appends > failsAt) throw new Error('No space is left.');
      text += lines;
    },
    close: () => {},
  };
  const recorder = new Recorder({ file, redactor, version: '1', pid: 7, maxBytes, onStop: (why) => stops.push(why) });
  const [ours, far] = createChannelPair();
  const channel = recorder.record(ours, { name: 'server:it', we: 'client' });
  const got: unknown[] = [];
  far.incoming.consume({ onItem: (message) => got.push(message) });
  channel.incoming.consume({ onItem: (message) => got.push(message) });
  return { recorder, channel, far, got, stops, text: () => text, lines: () => text.split('\n').slice(0, -1) };
}

const parse = (line: string | undefined): JsonObject => parseJson(line ?? '') as JsonObject;

describe('Recorder', () => {
  it('writes a header, and each message with its sender, every digit and every key', () => {
    const { recorder, channel, far, lines } = open();
    channel.outgoing.send(parseFrame('{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1.0,"big":12345678901234567890}}'));
    far.outgoing.send(parseFrame('{"jsonrpc":"2.0","id":1,"odd":[1e5],"result":{"__proto__":{"y":2}}}'));
    far.outgoing.close(new Error('it ended'));
    recorder.close();
    expect(parse(lines()[0])).toMatchObject({ notebridge: 'recording', format: 1, version: '1', date: expect.stringMatching(/^20\d\d-/) });
    expect(lines()[1]).toContain('"link":"server:it","session":1,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"a"');
    expect(lines()[1]).toContain('"params":{"x":1.0,"big":12345678901234567890}');
    expect(lines()[2]).toContain('"from":"server","message":{"jsonrpc":"2.0","id":1,"odd":[1e5],"result":{"__proto__":{"y":2}}}');
    expect(parse(lines()[3])).toMatchObject({ ended: 'server', error: 'it ended' });
  });

  it('hands on what it redacts as it came', { tags: ['P-410'] }, () => {
    const { recorder, channel, got, text } = open();
    const message = {
      id: 1,
      method: 'a',
      params: { 'the hidden one': ['x the hidden one y', { password: 'hunter2' }], password: { type: 'string' } },
    };
    channel.outgoing.send(message);
    recorder.close();
    expect(got).toEqual([message]);
    expect(got[0]).toBe(message);
    expect(text()).toContain('"params":{"[redacted]":["x [redacted] y",{"password":"[redacted]"}],"password":{"type":"string"}}');
    expect(text()).not.toContain('hunter2');
  });

  it('numbers connections of one name', () => {
    const { recorder, lines } = open();
    const [another, far] = createChannelPair();
    far.incoming.consume({ onItem: () => {} });
    recorder.record(another, { name: 'server:it', we: 'client' }).outgoing.send({ id: 1, method: 'b' });
    recorder.close();
    expect(parse(lines()[1])).toMatchObject({ link: 'server:it', session: 2 });
  });

  it('stops at its limit, says so in the file and once outside, and lets messages pass', { tags: ['P-417'] }, () => {
    const { recorder, channel, got, stops, text, lines } = open({ maxBytes: 4096 });
    for (let n = 0; n < 200; n++) channel.outgoing.send({ id: n, method: 'a'.repeat(30) });
    recorder.close();
    expect(got).toHaveLength(200);
    expect(stops).toEqual(['The recording has reached 4096 bytes (--max-size); what came after is not in it.']);
    expect(Buffer.byteLength(text())).toBeLessThanOrEqual(4096);
    expect(parse(lines().at(-1))).toMatchObject({ stopped: 'The recording has reached 4096 bytes (--max-size)' });
  });

  it('stops where nothing can be written, says so once, and lets messages pass', { tags: ['P-417'] }, async () => {
    const { channel, got, stops, lines } = open({ failsAt: 2 });
    for (let n = 0; n < 5; n++) {
      channel.outgoing.send({ id: n, method: 'a' });
      await new Promise(setImmediate);
    }
    expect(got).toHaveLength(5);
    expect(stops).toEqual(['No space is left. Recording has stopped; the session goes on.']);
    expect(lines()).toHaveLength(2);
  });

  it('leaves a mark for what no engine prints', () => {
    const { recorder, channel, got, lines } = open();
    let deep: JsonObject = {};
    for (let n = 0; n < 200_000; n++) deep = { deep };
    channel.outgoing.send({ id: 1, method: 'a', params: deep });
    channel.outgoing.send({ id: 2, method: 'b' });
    recorder.close();
    expect(got).toHaveLength(2);
    expect(parse(lines()[1])).toMatchObject({ from: 'client', skipped: 'message_too_deep' });
    expect(printJson(parse(lines()[2]).message)).toBe('{"id":2,"method":"b"}');
  });
});
