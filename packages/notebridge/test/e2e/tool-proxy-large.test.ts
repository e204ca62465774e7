// @module-tag deep

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServedHub } from '../support/served-hub.js';
import { jsonHeaders, type OpenOptions, type OpenToolProxy, openToolProxy } from '../support/tool-proxy.js';
import { fixtureConfig, fixtureServer, openUpstreams, type UpstreamsForTest } from '../support/upstreams.js';

const size = 12_000_000;

/** What the fixture says. */
function textOf(begin = '', length = size): string {
  return `${begin}${'café "quoted" C:\\path\t😀\n'.repeat(Math.ceil(length / 24))}`.slice(0, begin.length + length);
}

/** Compared without printing megabytes when they differ. */
function expectSame(found: unknown, wanted: string): void {
  expect(typeof found).toBe('string');
  expect((found as string).length).toBe(wanted.length);
  expect(found === wanted).toBe(true);
}

describe('a large result, through the tool proxy', () => {
  let upstreams: UpstreamsForTest;
  let open: OpenToolProxy;
  const start = async (options: OpenOptions = {}): Promise<void> => {
    open = await openToolProxy({ more: [upstreams.server('large')], ...options });
  };
  beforeEach(async () => {
    upstreams = openUpstreams([fixtureConfig('large.mjs', [], { name: 'large' })]);
    await upstreams.upstreams.start();
  });
  afterEach(() => open.close());

  const call = (tool: string, args: object = { size }, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${open.url}/large/tools/${tool}`, {
      method: 'POST',
      body: JSON.stringify({ arguments: args }),
      headers: { ...jsonHeaders, ...headers },
    });

  const answerOf = async (response: Response): Promise<JsonObject> => {
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    return JSON.parse(bytes.toString()) as JsonObject;
  };

  it('is a text to the letter, and so is one that only begins like JSON', async () => {
    await start();
    for (const begin of ['', '[INFO] ', ' \n\t{', '\u0000', '\ud800']) {
      const answer = await answerOf(await call('text', { size, begin }));
      expectSame(answer.result, textOf(begin));
      expect({ ...answer, result: '' }).toEqual({
        success: true,
        result: '',
        error: null,
        is_error: false,
        meta: null,
        error_code: null,
        call_id: expect.any(String),
        duration_ms: expect.any(Number),
      });
    }
  });

  it('is a value where the text is JSON', async () => {
    await start();
    const { result } = await answerOf(await call('rows', { size: 3_000_000 }));
    const { rows } = result as { rows: unknown[] };
    expect(rows).toHaveLength(300_000);
    expect(rows.at(-1)).toEqual({ index: 299_999 });
  });

  it('has images, several blocks and metadata as they came', async () => {
    await start();
    const image = await answerOf(await call('image'));
    const [only] = image.result as [JsonObject];
    expect({ ...only, data: '' }).toEqual({ type: 'image', mimeType: 'image/png', data: '' });
    expectSame(only.data, 'QUJD'.repeat(size / 4));

    const mixed = await answerOf(await call('mixed'));
    expect(mixed.meta).toEqual({ 'x/count': 3 });
    const [text, picture, short] = mixed.result as [JsonObject, JsonObject, JsonObject];
    expectSame(text.text, textOf());
    expect(text.annotations).toEqual({ priority: 1 });
    expectSame(picture.data, 'QUJD'.repeat(size / 4));
    expect(short).toEqual({ type: 'text', text: 'short' });

    const texts = await answerOf(await call('texts'));
    expectSame(texts.result, `${textOf()}\nbetween\n${textOf()}`);
    const blocks = texts.content as [JsonObject, JsonObject, JsonObject];
    expectSame(blocks[2].text, textOf());
  });

  it('is there once where the text repeats the structured content', async () => {
    await start();
    const answer = await answerOf(await call('structured'));
    expectSame(answer.result, textOf());
    expect(answer).not.toHaveProperty('content');
  });

  it('is result and error of a tool that failed', async () => {
    await start();
    const answer = await answerOf(await call('failed'));
    expect(answer).toMatchObject({ success: false, is_error: true, error_code: null });
    expectSame(answer.result, textOf());
    expectSame(answer.error, textOf());
    expect(answer).not.toHaveProperty('content');
  });

  it.each(['application/x-ndjson', 'text/event-stream'])('is one event of a stream of %s', async (accept) => {
    await start();
    const body = await (await call('text', { size }, { accept })).text();
    const lines = body.trimEnd().split('\n');
    expect(lines).toHaveLength(accept === 'text/event-stream' ? 2 : 1);
    const event = JSON.parse(lines.at(-1)?.replace(/^data: /, '') ?? '');
    expect({ ...event, result: '' }).toMatchObject({ event: 'result', success: true });
    expectSame(event.result, textOf());
  });

  it('is repeated under its idempotency key, byte by byte', async () => {
    await start();
    const key = { 'idempotency-key': 'once' };
    const first = Buffer.from(await (await call('text', { size }, key)).arrayBuffer());
    const second = await call('text', { size }, key);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(first.equals(Buffer.from(await second.arrayBuffer()))).toBe(true);
  });

  it('is not kept for a repetition where it is larger than all that is kept', async () => {
    await start({ limits: { storedBytes: 1_000_000 } });
    const key = { 'idempotency-key': 'once' };
    await (await call('text', { size }, key)).arrayBuffer();
    const second = await call('text', { size }, key);
    expect(second.headers.get('idempotency-replayed')).toBeNull();
    expectSame((await answerOf(second)).result, textOf());
  });

  it('is refused by its bytes, at the byte', { tags: ['P-139'] }, async () => {
    await start();
    const bytes = Number((await call('text')).headers.get('content-length'));
    await open.close();
    // Ids and times have not the same length in every call.
    await start({ limits: { maxResultBytes: bytes + 20 } });
    expect(await answerOf(await call('text'))).toMatchObject({ success: true });
    await open.close();
    await start({ limits: { maxResultBytes: bytes - 20 } });
    expect(await answerOf(await call('text'))).toMatchObject({ success: false, result: null, error_code: 'result_too_large' });
  });

  it('is an ordinary text to a middleware, which may read it, change it in place, or answer with another', async () => {
    const seen: number[] = [];
    const middleware: Middleware = {
      async onCallTool(context, callNext) {
        const result = await callNext(context);
        const [block] = result.content as [{ type: 'text'; text: string }];
        seen.push(block.text.length);
        const { begin } = context.message.arguments as { begin?: string };
        if (begin === 'in place') block.text = `changed ${block.text}`;
        return begin === 'another' ? { ...result, content: [{ ...block, text: block.text.toUpperCase() }] } : result;
      },
    };
    await start({ middleware: [middleware] });
    expectSame((await answerOf(await call('text', { size, begin: 'only read' }))).result, textOf('only read'));
    expectSame((await answerOf(await call('text', { size, begin: 'in place' }))).result, `changed ${textOf('in place')}`);
    expectSame((await answerOf(await call('text', { size, begin: 'another' }))).result, textOf('another').toUpperCase());
    expect(seen).toEqual(['only read', 'in place', 'another'].map((begin) => begin.length + size));
  });
});

describe('a large result, for a caller in this process', () => {
  it('has ordinary strings, and what comes behind it on the wire is not lost', async () => {
    const { call, upstreams } = openUpstreams([fixtureConfig('large.mjs')]);
    await upstreams.start();
    const [large, small] = await Promise.all([call('text', { size }), call('text', { size: 10 })]);
    const [{ text }] = (JSON.parse(JSON.stringify(large)) as { content: [{ text: string }] }).content;
    expectSame(text, textOf());
    expect(small).toEqual({ content: [{ type: 'text', text: textOf('', 10) }] });
  });
});

describe('a large result of the real program', () => {
  it('reaches agents over HTTP and code through the tool proxy as the same text, with the audit on', async () => {
    await using hub = await ServedHub.start({
      servers: { large: { command: process.execPath, args: [fixtureServer('large.mjs')] } },
      args: ['--no-auth'],
    });
    const client = new Client({ name: 'agent', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', hub.url)));
    const { content } = await client.callTool({ name: 'large__text', arguments: { size } });
    await client.close();
    const [{ text }] = content as unknown as [{ text: string }];
    expectSame(text, textOf());

    const response = await fetch(new URL('/api/v1/mcp/proxy/large/tools/text', hub.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: { size } }),
    });
    expectSame(((await response.json()) as JsonObject).result, textOf());
  });
});
