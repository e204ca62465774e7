// @module-tag deep

// @runs process
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { parseJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { createChannelPair } from '@notebridge/protocol/rpc/message-stream';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { describe, expect, it } from 'vitest';
import { plain, toTable } from '../../src/cli/terminal.js';
import { Player } from '../../src/recording/player.js';
import { type RecordedEntry, type Recording, readRecording } from '../../src/recording/read-recording.js';
import { chooseLink, describeLink } from '../../src/recording/recorded-links.js';
import { Recorder } from '../../src/recording/recorder.js';
import { recordingFormat } from '../../src/recording/recording-format.js';
import { toScript } from '../../src/recording/script.js';
import { bareEnvironment } from '../support/bare-environment.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { type GrowingKind, growthOfWork, testGrowth, textsIn } from '../support/growth.js';
import { runProgram } from '../support/program.js';
import { recordingFolder } from '../support/recordings.js';

const header = JSON.stringify({ notebridge: 'recording', format: recordingFormat, version: '1', date: '2026-11-28', pid: 1 });
const lineOf = (more: JsonObject): JsonObject => ({ t: 1, link: 'agent', session: 1, ...more });
const asked = (id: unknown, more: JsonObject = {}): JsonObject =>
  lineOf({ from: 'client', message: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'a', arguments: {} }, ...more } });
const answered = (id: unknown, result: unknown = {}): JsonObject => lineOf({ from: 'server', message: { jsonrpc: '2.0', id, result } });
const told = (more: JsonObject = {}): JsonObject =>
  lineOf({ from: 'server', message: { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' }, ...more } });

/** Lines that a recording is made of; they are sent as a list, so that all kinds of messages are texts of JSON. */
const recordings: Record<string, (part: unknown) => unknown> = {
  lines: (part) => part,
  links: (part) => textsIn(part).map((link) => lineOf({ link, from: 'client', message: { method: 'ping', id: 1 } })),
  sessions: (part) => textsIn(part).map((_, session) => lineOf({ session, from: 'client', message: { method: 'ping', id: 1 } })),
  'an argument': (part) => [asked(1, { params: { name: 'a', arguments: { part } } }), answered(1)],
  'a result': (part) => [asked(1), answered(1, { content: part })],
  'a batch': (part) => [lineOf({ from: 'client', message: part }), lineOf({ from: 'client', message: [part] })],
  'requests, and their answers': (part) => textsIn(part).flatMap((id) => [asked(id), answered(id)]),
  'requests that wait for their answers': (part) => [
    ...textsIn(part).map((id) => asked(id)),
    ...textsIn(part).map(() => told()),
    ...textsIn(part).map((id) => answered(id)),
  ],
  'listens beside a request': (part) => [
    ...textsIn(part).map((id) => asked(id, { method: 'subscriptions/listen' })),
    ...textsIn(part).map(() => told()),
  ],
  'questions of a server': (part) => [
    asked('first'),
    ...textsIn(part).map((id) =>
      lineOf({ from: 'server', message: { jsonrpc: '2.0', id, method: 'elicitation/create', params: { message: id } } }),
    ),
    ...textsIn(part).map((id) => lineOf({ from: 'client', message: { jsonrpc: '2.0', id, result: {} } })),
  ],
  notifications: (part) => [asked(1), ...textsIn(part).map((data) => told({ params: { data } })), answered(1)],
};

const redactor = new Redactor();
redactor.add('a secret that is known');

async function recordingOf(text: string): Promise<Recording> {
  const lines = parseJson(text);
  const file = [header, ...(Array.isArray(lines) ? lines : [lines]).map((line) => JSON.stringify(line))].join('\n');
  return readRecording(Readable.from([Buffer.from(`${file}\n`)]), { file: 'a.jsonl', version: '1', maxLineLength: 2 ** 24 });
}

/** Lists its links, replays one of them to a client, and records that. */
async function take(text: string): Promise<void> {
  const recording = await recordingOf(text);
  const rows = [...recording.links].map(([name, entries]) => [name, ...Object.values(describeLink(entries)).map(String)]);
  toTable(['LINK'], rows, { paint: plain });
  const [name] = recording.links.keys();
  const { entries } = chooseLink(recording, name, 'a.jsonl');
  const [client, server] = createChannelPair();
  const file = { path: 'b.jsonl', append: () => {}, close: () => {} };
  const recorder = new Recorder({ file, redactor, version: '1', pid: 1, maxBytes: 2 ** 30, onStop: () => {} });
  const channel = recorder.record(server, { name: 'agent', we: 'server' });
  const player = new Player({ script: toScript(entries), channel, timing: 'fast' });
  for (const { message } of entries.filter((entry) => entry.kind === 'message').slice(0, 3)) client.outgoing.send(message);
  client.outgoing.send({ jsonrpc: '2.0', id: 'other', method: 'tools/call', params: { name: 'other', arguments: { part: 'x' } } });
  client.outgoing.close();
  await player.closed;
  void player.report;
  recorder.close();
}

describe('a recording that grows', () => {
  testGrowth(
    Object.entries(recordings).map(([name, make]): GrowingKind => [name, make, take]),
    { coreHasOneIn: 48, tags: ['P-649'] },
  );
});

describe('a recording of many connections', () => {
  // A call with 130,000 arguments overflows the stack.
  for (const { cells, tags } of coreAndDeep([150_000, 300_000], (count) => count === 150_000))
    it.each(cells)('is listed whole: %d', { tags: [...tags, 'P-649', 'P-651'] }, async (count) => {
      const home = recordingFolder();
      const file = join(home, 'many.jsonl');
      const line = (_: unknown, at: number): string =>
        `{"t":1,"link":"l${at}","session":1,"from":"client","message":{"method":"ping","id":1}}`;
      writeFileSync(file, `${header}\n${Array.from({ length: count }, line).join('\n')}\n`);
      const { ending, stdout } = await runProgram(['replay', '--list', file], { env: { ...bareEnvironment(), HOME: home } });
      expect(ending).toBe(0);
      expect(stdout.split('\n')).toHaveLength(count + 3);
    });
});

describe('a recording of requests that wait', () => {
  it('is put together in time with their number', { tags: ['P-649'] }, async () => {
    const place = { line: 1, t: 1, session: 1, kind: 'message' } as const;
    const asks = (id: number): RecordedEntry => ({
      ...place,
      from: 'client',
      message: { id, method: 'tools/call', params: { name: 'a' } },
    });
    const tells: RecordedEntry = { ...place, from: 'server', message: { method: 'notifications/message' } };
    const work = (size: number): unknown =>
      toScript([...Array.from({ length: size }, (_, id) => asks(id)), ...Array.from({ length: size }, () => tells)]);
    expect(await growthOfWork(work, 2 ** 16)).toBeLessThan(8);
  });
});
