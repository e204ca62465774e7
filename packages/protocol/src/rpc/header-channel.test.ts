import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createHeaderChannel } from './header-channel.js';

const frame = (text: string) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

function open(maxMessageBytes = 1000) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const channel = createHeaderChannel({ input, output, maxMessageBytes });
  const received: unknown[] = [];
  const ended = new Promise<Error | undefined>((resolve) => {
    channel.incoming.consume({ onItem: (item) => received.push(item), onClose: resolve });
  });
  return { input, output, channel, received, ended };
}

describe('a channel of messages behind headers', () => {
  it('reads messages in whatever pieces they come', async () => {
    const { input, received, ended } = open();
    const bytes = Buffer.from(
      `${frame('{"a":"é😀"}')}${frame('[1]').replace('\r\n\r\n', '\r\nContent-Type: x\r\n\r\n')}${frame('{"b":2}')}`,
    );
    for (const byte of bytes) input.write(Buffer.from([byte]));
    input.write(Buffer.from(frame('{"c":3}') + frame('{"d":4}')));
    input.end();
    expect(await ended).toBeUndefined();
    expect(received).toEqual([{ a: 'é😀' }, [1], { b: 2 }, { c: 3 }, { d: 4 }]);
  });

  it('writes the length in bytes', () => {
    const { output, channel } = open();
    channel.outgoing.send({ text: 'é\ud800' });
    expect(String(output.read())).toBe('Content-Length: 19\r\n\r\n{"text":"é\\ud800"}');
  });

  it.each([
    ['a message that is too long', frame('x'.repeat(1001)), 'message_too_large'],
    ['what is no JSON', frame('{'), 'bad_json'],
    ['a header without a length', 'Content-Type: x\r\n\r\n{}', 'bad_message'],
    ['a header without an end', 'x'.repeat(5000), 'bad_message'],
  ])('ends with %s', async (_, text, code) => {
    const { input, received, ended } = open();
    input.write(text);
    expect(await ended).toMatchObject({ code });
    input.write(frame('{}'));
    expect(received).toEqual([]);
  });
});
