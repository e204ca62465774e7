import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { Bridge } from '../support/bridge.js';
import { Program } from '../support/program.js';
import { shakeHands } from '../support/raw-handshake.js';
import { type PageAnswer, RawPage } from '../support/raw-page.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';

const text = (value: string): JsonObject => ({ content: [{ type: 'text', text: value }] });
/** Answers every call with the name of its tool. */
const echo = ({ method, params }: JsonObject): PageAnswer =>
  method === 'tools/call' ? { result: text(String((params as JsonObject).name)) } : undefined;
const gone = { isError: true, _meta: { 'notebridge/error_code': 'page_gone' } };

describe('frames that are no messages', () => {
  it('are skipped; the connection and its calls live', { tags: ['P-058'] }, async () => {
    await using bridge = await Bridge.open();
    await using page = await RawPage.serve({ ...bridge.address, answer: echo });
    for (const frame of [
      '',
      ' ',
      '{',
      '{"jsonrpc":"2.0",}',
      'null',
      '17',
      '"text"',
      '[]',
      '[1,2]',
      '{}',
      '{"jsonrpc":"2.0"}',
      '{"id":1}',
      '{"jsonrpc":"2.0","id":{},"result":{}}',
      '{"jsonrpc":"2.0","id":null,"result":{}}',
      '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
      '{"jsonrpc":"2.0","id":999,"result":{}}',
      '{"jsonrpc":"2.0","id":"1","result":{}}',
      '{"jsonrpc":"2.0","method":5}',
      '{"jsonrpc":"2.0","method":"notifications/progress"}',
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
      '{"jsonrpc":"2.0","method":"x","params":"text"}',
      '{"__proto__":{"method":"x"}}',
    ])
      page.send(frame);
    page.socket.send(Buffer.from('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'), { binary: true });
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
    // Nothing that a page cancels is the agent's business.
    expect(bridge.agent.named('notifications/cancelled')).toEqual([]);
    expect(bridge.warnings.some(({ message }) => message.includes('binary'))).toBe(true);
  });

  it('may be nested as deeply as they like', { tags: ['deep'] }, async () => {
    await using program = await Program.open();
    await using page = await RawPage.serve({ ...(await program.address()), answer: echo });
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    page.send(deep);
    page.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${deep}}}`);
    page.send(`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":${deep}}}`);
    page.send(`{"jsonrpc":"2.0","id":8,"method":${deep}}`);
    expect(await program.callTool('get_cells')).toMatchObject({ result: text('get_cells') });
  });

  it.each([
    ['unmasked', [0x81, 0x02, 0x7b, 0x7d]],
    ['of a reserved opcode', [0x83, 0x80, 0, 0, 0, 0]],
    ['that are no UTF-8', [0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe]],
    ['that continue nothing', [0x80, 0x80, 0, 0, 0, 0]],
    ['that claim 2^63 bytes', [0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
  ])('frames of bytes %s end the connection and nothing else', { tags: ['deep'] }, async (_kind, bytes) => {
    await using bridge = await Bridge.open();
    const { socket } = await shakeHands({ ...bridge.address, rest: Uint8Array.from(bytes) });
    await once(socket, 'close');
    await using _page = await RawPage.serve({ ...bridge.address, answer: echo });
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
  });
});

describe('large frames', () => {
  it('pass as answers, 50 MB of them', { tags: ['P-140'] }, async () => {
    await using program = await Program.open();
    const large = 'x'.repeat(50_000_000);
    const answer = ({ method }: JsonObject): PageAnswer =>
      method === 'tools/call' ? `"result":{"content":[{"type":"text","text":"${large}"}]}` : undefined;
    await using _page = await RawPage.serve({ ...(await program.address()), answer });
    const { result } = (await program.callTool('get_cells')) as { result: { content: [{ text: string }] } };
    expect(result.content[0].text.length).toBe(large.length);
  });

  it('above the limit close with 1009 and fail the calls in flight at once, though the page does not hang up', {
    tags: ['P-139'],
  }, async () => {
    await using bridge = await Bridge.open({ maxMessageBytes: 10_000 });
    await using page = await RawPage.serve(bridge.address);
    const calls = [bridge.agent.callTool('run_code_cell'), bridge.agent.callTool('get_cells')];
    await page.message('tools/call', 1);
    page.socket.pause();
    page.send('x'.repeat(10_001));
    const start = performance.now();
    for (const result of await Promise.all(calls)) expect(result).toMatchObject(gone);
    expect(performance.now() - start).toBeLessThan(soonerThanNeverMs);
    page.socket.resume();
    expect(await page.closed).toBe(1009);
  });
});

describe('initialize', () => {
  it.each<[string, string]>([
    ['an error', '"error":{"code":-32603,"message":"no"}'],
    ['an unknown version', '"result":{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}'],
    ['a version of the modern era', '"result":{"protocolVersion":"2026-07-28","capabilities":{},"serverInfo":{"name":"x","version":"1"}}'],
    ['no version', '"result":{}'],
    ['a version that is a number', '"result":{"protocolVersion":20250618}'],
    ['a version that is a list', '"result":{"protocolVersion":["2025-06-18"]}'],
    ['a number', '"result":5'],
    ['a list', '"result":[{"protocolVersion":"2025-06-18"}]'],
    ['null', '"result":null'],
    ['an error that is a text', '"error":"no"'],
  ])(
    'an initialize that is answered with %s closes the connection, and the next page is served',
    { tags: ['deep'] },
    async (_kind, answer) => {
      await using bridge = await Bridge.open();
      const page = await RawPage.connect({ ...bridge.address, answer: () => answer });
      expect(await page.closed).toBe(1000);
      expect(bridge.session.proxyServer).not.toBeNull();
      await using _next = await RawPage.serve({ ...bridge.address, answer: echo });
      expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
      expect(bridge.warnings.map(({ message }) => message)).toContain('The handshake with the page failed; its connection is closed.');
    },
  );

  it.each(['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'may be answered with %s',
    { tags: ['deep'] },
    async (protocolVersion) => {
      await using bridge = await Bridge.open();
      const answer = (request: JsonObject): PageAnswer =>
        request.method === 'initialize'
          ? { result: { protocolVersion, capabilities: {}, serverInfo: { name: 'x', version: '1' } } }
          : echo(request);
      await using page = await RawPage.serve({ ...bridge.address, answer });
      expect(page.messages[0]).toMatchObject({ method: 'initialize', params: { protocolVersion: '2025-06-18' } });
      expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
    },
  );

  it('may come behind what the page says first', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
    await using page = await RawPage.serve({ ...bridge.address, answer: echo, first: [changed, changed, 'nonsense', changed] });
    expect(page.messages[0]?.method).toBe('initialize');
    await bridge.agent.until(() => bridge.agent.named('notifications/tools/list_changed').length > 0);
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
    // That the page came is told once; what it said before that is part of it.
    expect(bridge.agent.named('notifications/tools/list_changed')).toHaveLength(1);
  });

  it('may be cut off by the page: no call is lost to it', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    const leaving = (): Promise<PageAnswer> => new Promise(() => {});
    for (let visit = 0; visit < 3; visit++) {
      const page = await RawPage.connect({ ...bridge.address, answer: leaving });
      await page.message('initialize');
      page.socket.terminate();
    }
    await using _page = await RawPage.serve({ ...bridge.address, answer: echo });
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
  });
});

describe('answers', () => {
  it('the calls of a page that dies fail at once, and are not repeated', { tags: ['P-040'] }, async () => {
    await using bridge = await Bridge.open();
    const dying = await RawPage.serve(bridge.address);
    const calls = [bridge.agent.callTool('run_code_cell', { cellId: 'a' }), bridge.agent.callTool('delete_cell', { cellId: 'b' })];
    await dying.message('tools/call', 1);
    const start = performance.now();
    dying.socket.terminate();
    for (const result of await Promise.all(calls)) {
      expect(result).toMatchObject(gone);
      expect(JSON.stringify(result)).toMatch(/outcome is unknown.*not repeated/);
    }
    expect(performance.now() - start).toBeLessThan(soonerThanNeverMs);
    await using next = await RawPage.serve({ ...bridge.address, answer: echo });
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
    expect(next.messages.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  it('an answer that comes twice, or to what was never asked, is dropped', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    await using page = await RawPage.serve({
      ...bridge.address,
      answer: (request, self) => {
        if (request.method !== 'tools/call') return undefined;
        self.send({ jsonrpc: '2.0', id: 12_345, result: text('foreign') });
        self.send({ jsonrpc: '2.0', id: String(request.id), result: text('foreign') });
        self.send({ jsonrpc: '2.0', id: request.id, result: text('first') });
        return { result: text('second') };
      },
    });
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('first'));
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('first'));
    expect(page.messages.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  it('may be errors, which pass as they are', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    const error = { code: -32099, message: 'my own', data: { a: [1] }, x: true };
    await using _page = await RawPage.serve({
      ...bridge.address,
      answer: ({ method }) => (method === 'tools/call' ? { error } : undefined),
    });
    expect(await bridge.agent.request('tools/call', { name: 'get_cells' })).toMatchObject({ error });
  });
});

describe('requests of a page', () => {
  it('are refused, whatever they ask for, but for ping', { tags: ['P-043'] }, async () => {
    await using bridge = await Bridge.open();
    await using page = await RawPage.serve({ ...bridge.address, answer: echo });
    const methods = [
      'sampling/createMessage',
      'roots/list',
      'elicitation/create',
      'tools/call',
      'initialize',
      'x',
      '__proto__',
      'constructor',
    ];
    for (const [id, method] of methods.entries()) page.send({ jsonrpc: '2.0', id: `q${id}`, method, params: {} });
    page.send({ jsonrpc: '2.0', id: 'ping', method: 'ping' });
    await page.until((messages) => messages.some(({ id }) => id === 'ping'));
    const answers = page.messages.filter(({ method }) => method === undefined);
    expect(answers.slice(0, -1).map(({ id, error }) => [id, (error as JsonObject).code])).toEqual(
      methods.map((_, id) => [`q${id}`, -32601]),
    );
    expect(answers.at(-1)).toMatchObject({ id: 'ping', result: {} });
    // It was told that we can do nothing, and the agent was asked nothing.
    expect(page.messages[0]).toMatchObject({ params: { capabilities: {} } });
    expect(bridge.agent.notifications.filter(({ id }) => id !== undefined)).toEqual([]);
  });
});

describe('floods', () => {
  it('a flood of changes reaches the agent a few times, the last one certainly', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    await using page = await RawPage.serve({ ...bridge.address, answer: echo });
    await bridge.agent.until(() => bridge.agent.named('notifications/tools/list_changed').length === 1);
    for (let sent = 0; sent < 1000; sent++) page.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { sent } });
    await bridge.agent.until(() =>
      bridge.agent.named('notifications/tools/list_changed').some(({ params }) => (params as JsonObject)?.sent === 999),
    );
    expect(bridge.agent.named('notifications/tools/list_changed').length).toBeLessThan(20);
  });

  it('broken frames are not logged one by one', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    await using page = await RawPage.serve({ ...bridge.address, answer: echo });
    for (let sent = 0; sent < 5000; sent++) {
      page.send('{');
      page.send('{"jsonrpc":"2.0","id":0,"result":{}}');
    }
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
    expect(bridge.warnings.length).toBeLessThan(50);
    expect(bridge.warnings).toContainEqual({ message: 'Skipped a frame of the page.', fields: expect.objectContaining({ times: 4096 }) });
  });
});

describe('the heartbeat', () => {
  it('cuts a page that does not answer pings, and calls fail at once', { tags: ['P-143'] }, async () => {
    await using bridge = await Bridge.open({ pingMs: 300 });
    await using page = await RawPage.serve(bridge.address);
    const call = bridge.agent.callTool('run_code_cell');
    await page.message('tools/call');
    page.socket.pause();
    expect(await call).toMatchObject(gone);
  });

  it('leaves a page that answers them, however idle or busy it is', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open({ pingMs: 500 });
    await using page = await RawPage.serve({ ...bridge.address, answer: echo });
    for (let pings = 0; pings < 3; pings++) await Promise.race([once(page.socket, 'ping'), page.closed]);
    // So many that the brake holds the socket over several beats.
    for (let sent = 0; sent < 30_000; sent++) {
      page.send('{"jsonrpc":"2.0","method":"notifications/message"}');
      // Both ends share this process: neither may be kept from its pings.
      if (sent % 500 === 0) await nextTurn();
    }
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
    expect(bridge.warnings.filter(({ message }) => !message.includes('floods'))).toEqual([]);
  });

  it('leaves a page whose answer could not be read, since this process stood still', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open({ pingMs: 300 });
    await using page = await RawPage.serve({ ...bridge.address, answer: echo });
    await once(page.socket, 'ping');
    const endMs = performance.now() + 900;
    while (performance.now() < endMs);
    await Promise.race([once(page.socket, 'ping'), page.closed]);
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
    expect(bridge.warnings).toEqual([]);
  });
});

describe('a page that does not read', () => {
  it('fails calls that no longer fit, without a crash, and is found out by its missing pong', { tags: ['P-142'] }, async () => {
    await using bridge = await Bridge.open({ maxMessageBytes: 500_000, pingMs: 500, graceMs: 0 });
    await using page = await RawPage.serve(bridge.address);
    await bridge.agent.toolNames();
    page.socket.pause();
    const code = 'x'.repeat(400_000);
    const answers = Array.from({ length: 30 }, () =>
      bridge.agent.request('tools/call', { name: 'update_cell', arguments: { content: code } }),
    );
    bridge.agent.notify('notifications/roots/list_changed', { padding: code });
    bridge.agent.notify('notifications/cancelled', { requestId: 2 });
    // The cancelled call is not answered.
    answers.splice(0, 1);
    const outcomes = (await Promise.all(answers)).map(({ result, error }) =>
      String((error as JsonObject)?.message ?? JSON.stringify(result)),
    );
    expect(outcomes.some((outcome) => outcome.includes('does not read'))).toBe(true);
    expect(outcomes.some((outcome) => outcome.includes('outcome is unknown'))).toBe(true);
    await using _next = await RawPage.serve({ ...bridge.address, answer: echo });
    expect(await bridge.agent.callTool('get_cells')).toEqual(text('get_cells'));
  });
});
