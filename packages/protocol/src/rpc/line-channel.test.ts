import { once } from 'node:events';
import { PassThrough, Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { BridgeError } from '../core/errors.js';
import { createLineChannel } from './line-channel.js';
import { LongString, setUnread } from './unread-members.js';

const maxMessageLength = 1000;

describe('createLineChannel, reading', () => {
  const cases: { name: string; chunks: (string | Buffer)[]; messages: unknown[]; faults?: string[] }[] = [
    { name: 'one line', chunks: ['{"a":1}\n'], messages: [{ a: 1 }] },
    { name: 'many lines in one chunk', chunks: ['1\n"b"\n[3]\n{"d":null}\n'], messages: [1, 'b', [3], { d: null }] },
    { name: 'a line in many chunks', chunks: ['{"a"', ':', '[1,', '2]}', '\n2\n'], messages: [{ a: [1, 2] }, 2] },
    { name: 'a line break that comes alone', chunks: ['1', '\n', '2', '\n', '\n'], messages: [1, 2] },
    { name: 'CRLF, also cut in two', chunks: ['{"a":1}\r\n2\r', '\n3\r\n'], messages: [{ a: 1 }, 2, 3] },
    { name: 'empty and blank lines', chunks: ['\n\n 1 \n\t\n\r\n', '\n2\n'], messages: [1, 2] },
    { name: 'no line break at the end', chunks: ['1\n2'], messages: [1, 2] },
    { name: 'nothing at all', chunks: [], messages: [] },
    { name: 'a byte order mark', chunks: ['\uFEFF{"a":1}\n'], messages: [{ a: 1 }] },
    { name: 'line separators that are no line breaks', chunks: ['"a\u2028b\u2029c\u0085d"\n'], messages: ['a\u2028b\u2029c\u0085d'] },
    { name: 'something that is not JSON', chunks: ['1\nnot json\n2\n'], messages: [1, 2], faults: ['bad_json'] },
    { name: 'half a message at the end', chunks: ['1\n{"a":'], messages: [1], faults: ['bad_json'] },
    {
      name: 'a line above the limit, whole and in pieces',
      chunks: [`"${'x'.repeat(1000)}"\n1\n`, '"', ...Array<string>(50).fill('y'.repeat(100)), '"\n2\n'],
      messages: [1, 2],
      faults: ['message_too_large', 'message_too_large'],
    },
    { name: 'a line of exactly the limit', chunks: [`"${'x'.repeat(998)}"\n`], messages: ['x'.repeat(998)] },
    { name: 'a line above the limit that never ends', chunks: ['1\n', 'z'.repeat(5000)], messages: [1], faults: ['message_too_large'] },
  ];

  it.each(cases)('takes $name', async ({ chunks, messages, faults = [] }) => {
    const all = await read(chunks);
    expect(all.messages).toEqual(messages);
    expect(all.faults).toEqual(faults);
    expect(all.closed).toEqual([undefined]);
  });

  it('puts characters together that were cut at any byte', async () => {
    const text = '"ä€😀\u2028é"';
    const bytes = Buffer.from(`${text}\n`);
    for (let at = 1; at < bytes.length; at++) {
      const { messages } = await read([bytes.subarray(0, at), bytes.subarray(at)]);
      expect(messages).toEqual([JSON.parse(text)]);
    }
    expect((await read([...bytes].map((byte) => Buffer.of(byte)))).messages).toEqual([JSON.parse(text)]);
  });

  it('takes a line of 50 MB in pieces of a pipe', async () => {
    const piece = Buffer.from('m'.repeat(65_536));
    const chunks = [Buffer.from('{"a":"'), ...Array<Buffer>(800).fill(piece), Buffer.from('","b":1.0}\n7\n')];
    const { messages, faults } = await read(chunks, 64 * 1024 * 1024);
    expect(faults).toEqual([]);
    expect((messages[0] as { a: string }).a).toHaveLength(800 * 65_536);
    expect(messages[1]).toBe(7);
  });

  it('counts characters, not bytes, of a line in pieces', async () => {
    const line = Buffer.from(`"${'€'.repeat(998)}"`);
    const inPieces = [line.subarray(0, 700), line.subarray(700, 2000), line.subarray(2000), Buffer.from('\n1\n')];
    expect((await read(inPieces)).messages).toEqual(['€'.repeat(998), 1]);
    expect(await read(inPieces, 999)).toMatchObject({ messages: [1], faults: ['message_too_large'] });
  });

  it('takes a long line whatever stands around it, and leaves out a blank one', async () => {
    const text = 'm'.repeat(400_000);
    const around = [`\uFEFF{"a":"${text}"}\r\n`, `${' '.repeat(300_000)}\n`, `{"a":"${text}"`, '}x\n', '2\n'].map((chunk) =>
      Buffer.from(chunk),
    );
    const pieces = around.flatMap((chunk) =>
      Array.from({ length: Math.ceil(chunk.length / 65_536) }, (_, index) => chunk.subarray(index * 65_536, (index + 1) * 65_536)),
    );
    expect(await read(pieces, 1_000_000)).toEqual({ messages: [{ a: text }, 2], faults: ['bad_json'], closed: [undefined] });
  });

  it('keeps numbers exactly', async () => {
    const { messages } = await read(['[1.0,1e400]\n']);
    expect(String(messages[0])).toBe('1.0,1e400');
  });

  it('takes texts as well, from an input that decodes', async () => {
    const input = Readable.from(['{"a":"ä', '€"}\n2\n']);
    const messages: unknown[] = [];
    const channel = createLineChannel({ input, output: new PassThrough(), maxMessageLength, onUnreadable: () => {} });
    await new Promise((resolve) => channel.incoming.consume({ onItem: (message) => messages.push(message), onClose: resolve }));
    expect(messages).toEqual([{ a: 'ä€' }, 2]);
  });

  it('leaves its end to who wants to close it later', async () => {
    const input = new PassThrough();
    const ended: unknown[] = [];
    const onEnd = (error: Error | undefined): number => ended.push(error);
    const channel = createLineChannel({ input, output: new PassThrough(), maxMessageLength, onUnreadable: () => {}, onEnd });
    input.end();
    await once(input, 'close');
    expect(ended).toEqual([undefined]);
    expect(channel.incoming.closed).toBe(false);
  });

  it('closes with the error of its input, and when the input is destroyed without one', async () => {
    for (const error of [new Error('EIO'), undefined]) {
      const input = new PassThrough();
      const output = new PassThrough();
      const channel = createLineChannel({ input, output, maxMessageLength, onUnreadable: () => {} });
      const closed = new Promise((resolve) => channel.incoming.consume({ onItem: () => {}, onClose: resolve }));
      input.destroy(error);
      expect(await closed).toBe(error);
    }
  });
});

describe('createLineChannel, writing', () => {
  it('writes one line for each message, those of one turn of the loop together', async () => {
    const { channel, written } = openWriter();
    channel.outgoing.send({ a: 1 });
    channel.outgoing.send(['two\nlines\u2028']);
    await Promise.resolve();
    channel.outgoing.send(3);
    expect(written).toEqual([]);
    await new Promise(setImmediate);
    expect(written).toEqual(['{"a":1}\n["two\\nlines\u2028"]\n3\n']);
    channel.outgoing.send(4);
    await new Promise(setImmediate);
    expect(written).toHaveLength(2);
  });

  it('writes a long string as it came, behind what waits, and the next line behind it', async () => {
    const { channel, written } = openWriter();
    const block = {};
    setUnread(block, 'text', new LongString(Buffer.from('"\\u0041"')));
    channel.outgoing.send(1);
    channel.outgoing.send({ block });
    channel.outgoing.send(2);
    await new Promise(setImmediate);
    expect(written.map(String).join('')).toBe('1\n{"block":{"text":"\\u0041"}}\n2\n');
  });

  it('writes out what waits when it is closed, and nothing after', async () => {
    const { channel, written } = openWriter();
    channel.outgoing.send(1);
    channel.outgoing.close();
    channel.outgoing.send(2);
    await new Promise(setImmediate);
    expect(written).toEqual(['1\n']);
  });

  it('throws for what cannot be printed, and goes on', async () => {
    const { channel, written } = openWriter();
    let deep: unknown = 0;
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    channel.outgoing.send(1);
    expect(() => channel.outgoing.send(deep)).toThrow(BridgeError);
    channel.outgoing.send(2);
    await new Promise(setImmediate);
    expect(written).toEqual(['1\n2\n']);
  });

  it('closes when the other end has gone (EPIPE), without throwing', async () => {
    const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const output = new Writable({ write: (_chunk, _encoding, done) => done(gone) });
    const channel = createLineChannel({ input: new PassThrough(), output, maxMessageLength, onUnreadable: () => {} });
    const closed = new Promise((resolve) => channel.incoming.consume({ onItem: () => {}, onClose: resolve }));
    channel.outgoing.send(1);
    expect(await closed).toBe(gone);
    channel.outgoing.send(2);
    await new Promise(setImmediate);
  });

  it('closes when the other end reads nothing, before memory fills', async () => {
    const output = new Writable({ write: () => {} });
    const channel = createLineChannel({ input: new PassThrough(), output, maxMessageLength, onUnreadable: () => {} });
    const closed = new Promise((resolve) => channel.incoming.consume({ onItem: () => {}, onClose: resolve }));
    for (let count = 0; count < 5; count++) channel.outgoing.send('x'.repeat(maxMessageLength));
    expect(await closed).toMatchObject({ code: 'closed' });
  });
});

interface Read {
  messages: unknown[];
  faults: string[];
  closed: unknown[];
}

async function read(chunks: (string | Buffer)[], limit = maxMessageLength): Promise<Read> {
  const input = new PassThrough();
  const all: Read = { messages: [], faults: [], closed: [] };
  const channel = createLineChannel({
    input,
    output: new PassThrough(),
    maxMessageLength: limit,
    onUnreadable: (error) => all.faults.push(error.code),
  });
  channel.incoming.consume({ onItem: (message) => all.messages.push(message), onClose: (error) => all.closed.push(error) });
  for (const chunk of chunks) if (!input.write(chunk)) await once(input, 'drain');
  input.end();
  await once(input, 'close');
  return all;
}

function openWriter() {
  const written: string[] = [];
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      written.push(chunk);
      done();
    },
  });
  return { written, channel: createLineChannel({ input: new PassThrough(), output, maxMessageLength, onUnreadable: () => {} }) };
}
