// @module-tag P-418

import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readRecording } from './read-recording.js';

const header = '{"notebridge":"recording","format":1,"version":"0.1.0","date":"2026-01-01T00:00:00.000Z"}';
const line = '{"t":1,"link":"agent","session":1,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}';
const read = (text: string, maxLineLength = 10_000) =>
  readRecording(Readable.from([Buffer.from(text)]), { file: 'it.jsonl', version: '9', maxLineLength });

describe('readRecording', () => {
  it('reads messages by connection, and batches as their messages', async () => {
    const batch = '{"t":2,"link":"server:a","session":1,"from":"server","message":[{"id":1,"result":{"n":1.0}},{"id":2,"result":{}}]}';
    const end = '{"t":3,"link":"agent","session":1,"ended":"server","error":"exit code 1"}';
    const { links, gaps } = await read(`${header}\n${line}\n\n${batch}\r\n${end}\n`);
    expect(gaps).toEqual([]);
    expect(links.get('agent')).toMatchObject([
      { line: 2, kind: 'message', from: 'client', message: { method: 'ping' } },
      { line: 5, kind: 'end', ended: 'server', error: 'exit code 1' },
    ]);
    expect(links.get('server:a')?.map((entry) => entry.line)).toEqual([4, 4]);
  });

  it('leaves out a last line that was cut off, and says so', { tags: ['P-416'] }, async () => {
    const { links, gaps } = await read(`${header}\n${line}\n${line.slice(0, 40)}`);
    expect(links.get('agent')).toHaveLength(1);
    expect(gaps).toEqual(['Line 3 is cut off, and left out: who recorded it was ended in the middle of it.']);
  });

  it('says what is missing', async () => {
    const { gaps } = await read(
      `${header}\n{"t":1,"link":"agent","session":1,"from":"client","skipped":"message_too_deep"}\n{"t":2,"stopped":"The recording has reached 9 bytes (--max-size)"}\n`,
    );
    expect(gaps).toEqual([
      'Line 2 stands for a message that could not be recorded.',
      'The recording has reached 9 bytes (--max-size); what came after line 3 is not in it.',
    ]);
  });

  const deep = '['.repeat(500_000) + ']'.repeat(500_000);
  it.each([
    ['nothing', '', '"it.jsonl", line 1: the line is missing: the file is empty.'],
    ['no JSON', 'hello\n', '"it.jsonl", line 1: the line is not JSON.'],
    ['another file', '{"mcpServers":{}}\n', 'line 1: the line is not the first line of a recording'],
    [
      'another version',
      '{"notebridge":"recording","format":2,"version":"3.0.0"}\n',
      'line 1: the line says format 2, written by Notebridge "3.0.0", and this is 9, which reads format 1',
    ],
    ['a broken line in the middle', `${header}\n${line.slice(0, 40)}\n${line}\n`, '"it.jsonl", line 2: the line is not JSON.'],
    ['a broken last line that is whole', `${header}\nnot json\n`, '"it.jsonl", line 2: the line is not JSON.'],
    ['a line that is no object', `${header}\n5\n`, 'line 2: the line is no JSON object.'],
    ['a line of no connection', `${header}\n{"t":1}\n`, 'line 2: the line needs "t" and "session", numbers, and "link", a name.'],
    [
      'a name that moves the cursor',
      `${header}\n{"t":1,"link":"a\\u001b[2J","session":1,"from":"client","message":{}}\n`,
      '"link", a name.',
    ],
    ['a message of nobody', `${header}\n{"t":1,"link":"a","session":1,"message":{}}\n`, 'line 2: the line needs "from" or "ended"'],
    [
      'a message that is none',
      `${header}\n{"t":1,"link":"a","session":1,"from":"client","message":7}\n`,
      'line 2: the line needs a "message"',
    ],
    ['a line that is too long', `${header}\n${'x'.repeat(20_000)}\n`, 'line 2: the line is longer than 10000 characters.'],
  ])('refuses %s, with file and line', async (_, text, message) => {
    const error: unknown = await read(text).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'bad_recording', message: expect.stringContaining(message) });
  });

  it('refuses nesting without end', async () => {
    await expect(read(`${header}\n${deep}\n${line}\n`, 2_000_000)).rejects.toMatchObject({
      code: 'bad_recording',
      message: expect.stringMatching(/line 2: the line is (nested too deeply|no JSON object)\.$/),
    });
  });
});
