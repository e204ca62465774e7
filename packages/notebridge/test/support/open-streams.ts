import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { modernVersion, withEnvelope } from './agents.js';
import { initialize } from './mcp-http.js';
import type { ServedHub } from './served-hub.js';

/** An answer of a hub that goes on. */
export interface OpenStream {
  readonly text: string;
  /** Resolves to when it ended, by `performance.now`. */
  readonly ended: Promise<number>;
}

async function openStream(answering: Promise<Response>): Promise<OpenStream> {
  const response = await answering;
  const stream = { text: '', ended: Promise.resolve(0) };
  const read = async (): Promise<number> => {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) stream.text += piece.value;
    return performance.now();
  };
  // One that is cut has ended too.
  stream.ended = read().catch(() => performance.now());
  return stream;
}

const accept = { accept: 'application/json, text/event-stream' };
const meta = { progressToken: 1 };

/** A call of `long__go_on` by each door, and the streams that agents listen on, all with the tokens of one holder. */
export async function openAllStreams(
  hub: ServedHub,
  { agent, tools }: { agent: string; tools: string },
  by: string,
): Promise<OpenStream[]> {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    hub.request('/mcp', { token: agent, body, headers: { ...accept, ...headers } });
  const opened = await post(initialize(1, '2025-11-25', {}, 'agent'));
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
  await opened.text();
  const ask = (method: string, params: Record<string, unknown>) => {
    const name = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
    const headers = { 'mcp-protocol-version': modernVersion, 'mcp-method': method, ...name };
    return post({ jsonrpc: '2.0', id: 1, method, params: withEnvelope(params) }, headers);
  };
  const params = (door: string) => ({ name: 'long__go_on', arguments: { by: `${by} ${door}` } });
  return Promise.all([
    openStream(post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { ...params('legacy'), _meta: meta } }, session)),
    openStream(hub.request('/mcp', { token: agent, headers: { ...accept, ...session } })),
    openStream(ask('tools/call', { ...params('modern'), _meta: meta })),
    openStream(ask('subscriptions/listen', { notifications: { toolsListChanged: true } })),
    openStream(
      hub.request('/api/v1/mcp/proxy/long/tools/go_on', {
        ...{ token: tools, body: { arguments: { by: `${by} tools` } } },
        headers: { accept: 'application/x-ndjson' },
      }),
    ),
  ]);
}

/** The streams of one hub, and by what its calls are known to their server. */
export interface StreamsOfHub {
  by: string;
  streams: readonly OpenStream[];
}

/**
 * Ends what the streams hang on once all go on, and expects that within a second each has ended, and each call was cancelled at its server. Returns
 * after how many milliseconds they ended.
 */
export async function expectEndInTime(
  hubs: readonly StreamsOfHub[],
  { end, file }: { end: () => Promise<number>; file: string },
): Promise<number[]> {
  const lines = (word: string, by: string): string[] =>
    readFileSync(file, 'utf8').match(new RegExp(`^${word} go_on ${by} .*$`, 'gm')) ?? [];
  const calling = hubs.flatMap(({ streams }) => streams.filter((_, at) => at % 2 === 0));
  for (const { by } of hubs) await expect.poll(() => lines('began', by)).toHaveLength(3);
  for (const stream of calling) await expect.poll(() => stream.text).toContain('"progress":3');
  for (const { by } of hubs) expect(lines('cancelled', by)).toEqual([]);
  const endedAt = await end();
  const all = hubs.flatMap(({ streams }) => streams);
  const late = (await Promise.all(all.map(({ ended }) => ended))).map((at) => Math.round(at - endedAt));
  expect(Math.max(...late)).toBeLessThan(1000);
  for (const stream of calling) expect(stream.text).toContain('Issue a new one with `notebridge grant`');
  for (const { by } of hubs) await expect.poll(() => lines('cancelled', by)).toHaveLength(3);
  return late;
}
