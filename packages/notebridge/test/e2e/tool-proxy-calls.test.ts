import { connect } from 'node:net';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exchange, parseReply, requestBytes, untilClosed } from '../support/raw-http.js';
import { jsonHeaders, jsonOf, type OpenToolProxy, openToolProxy } from '../support/tool-proxy.js';

let open: OpenToolProxy;
beforeEach(async () => {
  open = await openToolProxy();
});
afterEach(() => open.close());

const path = (tool: string): string => `/api/v1/mcp/proxy/github/tools/${tool}`;
const callBytes = (tool: string, headers: Record<string, string | undefined> = {}, port = open.listener.port): Buffer =>
  requestBytes(port, {
    method: 'POST',
    target: path(tool),
    headers: { ...jsonHeaders, connection: 'keep-alive', ...headers },
    body: '{"arguments":{}}',
  });

describe('a call that streams', () => {
  const lines = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('brings progress and log lines as they come, then the answer', { tags: ['P-075'] }, async () => {
    const response = await open.call('steps', {}, { headers: { accept: 'application/x-ndjson' } });
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(lines(await response.text())).toEqual([
      { event: 'progress', progress: 1, total: 2, message: 'half' },
      { event: 'log', level: 'info', data: { at: 'half' }, logger: 'steps' },
      { event: 'progress', progress: 2, total: 2 },
      expect.objectContaining({
        event: 'result',
        success: true,
        result: 'done',
        error: null,
        is_error: false,
        call_id: expect.any(String),
      }),
    ]);
  });

  it.each(['application/x-ndjson', 'text/event-stream'])(
    'brings progress while the call still runs (%s)',
    { tags: ['P-075'] },
    async (accept) => {
      let finish = (): void => {};
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const run: RunnableTool['run'] = async (_, context) => {
        context.forwardProgress({ progress: 1 });
        await finished;
        return { content: [] };
      };
      await using slow = await openToolProxy({ tools: [{ name: 'slow', inputSchema: {}, run }] });
      const { body } = await slow.call('slow', {}, { headers: { accept } });
      let text = '';
      for await (const chunk of body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.includes('"progress":1')) finish();
      }
      expect(text).toMatch(/"progress":1[^]*"success":true/);
    },
  );

  it('does the same as server-sent events', { tags: ['P-075'] }, async () => {
    const response = await open.call('steps', {}, { headers: { accept: 'text/html, text/event-stream;q=0.9' } });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = (await response.text()).trimEnd().split('\n\n');
    expect(events.map((event) => event.split('\n')[0])).toEqual(['event: progress', 'event: log', 'event: progress', 'event: result']);
    expect(JSON.parse(events[0]?.split('\ndata: ')[1] ?? '')).toEqual({ event: 'progress', progress: 1, total: 2, message: 'half' });
  });

  it('says that it lives while nothing else happens', async () => {
    // Only here: on a busy machine there would be one between any two events.
    await using beating = await openToolProxy({ limits: { heartbeatMs: 20 } });
    const response = await beating.call('wait', {}, { headers: { accept: 'application/x-ndjson' } });
    // The headers came with the first heartbeat; the tool still waits.
    beating.test.release();
    const [first, ...rest] = lines(await response.text());
    expect(first).toEqual({ event: 'heartbeat' });
    expect(rest.at(-1)).toMatchObject({ event: 'result', success: true });
  });

  it('has its refusals as statuses, before anything was streamed', async () => {
    const accept = { headers: { accept: 'text/event-stream' } };
    const limited = await open.call('bridge_error', { code: 'budget_exhausted', data: { retry_after_s: 7 } }, accept);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    expect((await open.call('break', {}, accept)).status).toBe(500);
    expect(
      (await fetch(`${open.url}/no/tools/x`, { method: 'POST', body: '{"arguments":{}}', headers: { ...jsonHeaders, ...accept.headers } }))
        .status,
    ).toBe(404);
  });

  it('ends with a failed answer when it breaks after it began', async () => {
    await using late = await openToolProxy({
      tools: [
        {
          name: 'late',
          inputSchema: {},
          run: async (_, context) => {
            context.forwardProgress({ progress: 1 });
            throw new TypeError('inner secret');
          },
        },
      ],
    });
    const text = await (await late.call('late', {}, { headers: { accept: 'application/x-ndjson' } })).text();
    expect(lines(text)[1]).toMatchObject({
      event: 'result',
      success: false,
      error: 'Internal error',
      error_code: 'internal',
      call_id: expect.any(String),
    });
    expect(text).not.toContain('secret');
  });

  it('cannot have its events forged by what a tool says', async () => {
    await using forging = await openToolProxy({
      tools: [
        {
          name: 'forge',
          inputSchema: {},
          run: async (_, context) => {
            context.forwardProgress({ event: 'result', progress: 1, message: 'a\n\nevent: result\ndata: {}\n\n' });
            return { content: [] };
          },
        },
      ],
    });
    const text = await (await forging.call('forge', {}, { headers: { accept: 'text/event-stream' } })).text();
    expect(
      text
        .trimEnd()
        .split('\n\n')
        .map((event) => event.split('\n')[0]),
    ).toEqual(['event: progress', 'event: result']);
  });
});

describe('closing the connection', () => {
  it.each(['application/json', 'application/x-ndjson'])('cancels the call at the server (%s)', { tags: ['P-076'] }, async (accept) => {
    const leaving = new AbortController();
    const call = open.call('wait', {}, { signal: leaving.signal, headers: { accept } }).then((response) => response.text());
    await open.test.waiting();
    leaving.abort();
    await expect(call).rejects.toThrow();
    expect(await open.test.cancelled()).toContain('closed the connection');
  });

  it('cancels all calls that came one behind the other without waiting', async () => {
    const socket = connect(open.listener.port, '127.0.0.1');
    socket.write(Buffer.concat([callBytes('wait'), callBytes('wait')]));
    await open.test.waiting();
    await open.test.waiting();
    socket.destroy();
    await open.test.cancelled();
    await open.test.cancelled();
    await open.app.calls.none();
  });

  it('a caller that closes one direction has left, too', async () => {
    const socket = connect(open.listener.port, '127.0.0.1');
    socket.write(callBytes('wait'));
    await open.test.waiting();
    socket.end();
    expect(await open.test.cancelled()).toContain('closed the connection');
    await untilClosed(socket);
  });

  it('a caller that closes in the middle of a body leaves nothing behind', async () => {
    const socket = connect(open.listener.port, '127.0.0.1');
    socket.write(callBytes('count', { 'content-length': '1000' }));
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    await untilClosed(socket);
    expect(await jsonOf(open.call('count'))).toMatchObject({ result: 'run 1' });
    expect(open.app.calls.size).toBe(0);
  });
});

describe('an Idempotency-Key', () => {
  const once = (key: string, tool = 'count', args: unknown = {}, more: Record<string, string> = {}) =>
    open.call(tool, args, { headers: { 'idempotency-key': key, ...more } });

  it('has the same call made once, and repetitions answered with the first answer', { tags: ['P-077'] }, async () => {
    const first = await once('k1');
    const again = await once('k1');
    expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([null, 'true']);
    expect(await again.text()).toBe(await first.text());
    expect(open.test.counted()).toBe(1);
  });

  it('has a repetition wait for the call that runs', async () => {
    const first = once('k2', 'wait');
    await open.test.waiting();
    const second = once('k2', 'wait');
    // The second is in the hub when a third call, sent after it, was answered.
    await open.call('hello');
    open.test.release();
    const [one, two] = await Promise.all([jsonOf(first), jsonOf(second)]);
    expect(two).toEqual(one);
  });

  it('refuses another call under the same key', async () => {
    await once('k3');
    for (const response of [await once('k3', 'count', { other: 1 }), await once('k3', 'hello')]) {
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ detail: [{ type: 'idempotency_key_reused', loc: ['header', 'idempotency-key'] }] });
    }
  });

  it('is of one grant', { tags: ['P-077'] }, async () => {
    await once('k4');
    await once('k4', 'count', {}, { authorization: 'Bearer other' });
    expect(open.test.counted()).toBe(2);
  });

  it('is answered in the form that the repetition asks for', async () => {
    const first = await jsonOf(once('k5'));
    const streamed = await once('k5', 'count', {}, { accept: 'application/x-ndjson' });
    expect(await jsonOf(streamed)).toEqual({ event: 'result', ...first });
  });

  it.each(['x'.repeat(256), 'with space', ''])('is refused if it is %j', async (key) => {
    expect((await once(key)).status).toBe(422);
  });
});

describe('a connection', () => {
  it('may carry many calls one behind the other, answered in order', async () => {
    const last = callBytes('hello', { connection: 'close' });
    const text = await exchange(open.listener.port, Buffer.concat([callBytes('count'), callBytes('fail'), callBytes('count'), last]));
    expect([...text.matchAll(/"result":"([^"]*)"/g)].map(([, result]) => result)).toEqual([
      'run 1',
      'It failed.',
      'run 2',
      'Hello, world!',
    ]);
  });

  it('is kept after a refusal whose body was not read', async () => {
    const refused = callBytes('hello', { authorization: undefined });
    const text = await exchange(open.listener.port, Buffer.concat([refused, callBytes('hello', { connection: 'close' })]));
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  it.each([
    ['headers', 'POST /api/v1/mcp/proxy/github/tools/hello HTTP/1.1\r\nhost: lo'],
    ['a body', undefined],
  ])('a caller that sends %s for ever is ended', async (_, bytes) => {
    // Only here: a busy machine may take longer for an honest request.
    await using other = await openToolProxy({ listen: { timeouts: { headersMs: 200, requestMs: 400 } } });
    const { port } = other.listener;
    const reply = parseReply(await exchange(port, bytes ?? callBytes('hello', { 'content-length': '1000' }, port)));
    expect([0, 408]).toContain(reply.status);
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['TLS', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]), 400],
    ['headers without end', `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n', 400],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nhost: localhost\r\nx: \u0000\r\n\r\n', 400],
  ])('a caller that brings %s is refused and ended', async (_, bytes, status) => {
    const reply = parseReply(await exchange(open.listener.port, bytes));
    expect([reply.status, JSON.parse(reply.body)]).toEqual([status, { detail: expect.any(String) }]);
  });
});

it('calls of one grant take three quarters of the places at most', { tags: ['P-204'] }, async () => {
  await using busy = await openToolProxy({ limits: { maxInFlight: 4 } });
  const running = [];
  for (let calls = 0; calls < 3; calls++) {
    running.push(busy.call('wait'));
    await busy.test.waiting();
  }
  const refused = await busy.call('hello');
  expect([refused.status, await jsonOf(refused)]).toEqual([503, expect.objectContaining({ error_code: 'limit_reached' })]);
  for (const other of ['other', 'owner'])
    expect((await busy.call('hello', {}, { headers: { authorization: `Bearer ${other}` } })).status).toBe(200);
  busy.test.release();
  for (const answer of running) expect((await answer).status).toBe(200);
  expect((await busy.call('hello')).status).toBe(200);
});

describe('closing the listener', () => {
  it('lets a call that runs end, ends idle connections, and frees the port', async () => {
    await open.call('hello');
    const call = open.call('wait');
    await open.test.waiting();
    const closed = open.close();
    open.test.release();
    expect(await jsonOf(call)).toMatchObject({ success: true });
    await closed;
    await expect(open.call('hello')).rejects.toThrow();
    await open.close();
  });

  it('cancels a call that does not end, and says so', async () => {
    const call = open.call('wait');
    await open.test.waiting();
    await open.close();
    expect(await jsonOf(call)).toMatchObject({ success: false, error_code: 'hub_gone', error: expect.stringContaining('The hub ended') });
    expect(await open.test.cancelled()).toContain('closing');
  });

  it('cuts connections that were upgraded by somebody else', async () => {
    await using other = await openToolProxy({
      listen: {
        onUpgrade: (request, socket) =>
          void socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n${request.url}`),
      },
    });
    const socket = connect(other.listener.port, '127.0.0.1');
    socket.write(`GET /pages HTTP/1.1\r\nhost: localhost:${other.listener.port}\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n`);
    const text = untilClosed(socket);
    await new Promise((resolve) => socket.once('data', resolve));
    await other.close();
    expect(await text).toContain('/pages');
  });
});
