import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { Bridge } from '../support/bridge.js';
import { Program } from '../support/program.js';
import { dialMany, replyOn, shakeHands, statusOf } from '../support/raw-handshake.js';
import { colabOrigin, RawPage } from '../support/raw-page.js';

const toolsOnly = {
  answer: ({ method }: Record<string, unknown>) =>
    method === 'tools/call' ? { result: { content: [{ type: 'text', text: 'here' }] } } : undefined,
};

describe('a second page', () => {
  it('is upgraded, then told 1013; the first goes on', { tags: ['P-042'] }, async () => {
    await using bridge = await Bridge.open();
    await using first = await RawPage.serve({ ...bridge.address, ...toolsOnly });
    const second = await RawPage.connect(bridge.address);
    const [code, reason] = await once(second.socket, 'close');
    expect([code, String(reason)]).toEqual([1013, 'Server is busy']);
    expect(await bridge.agent.callTool('get_cells')).toMatchObject({ content: [{ text: 'here' }] });
    expect(first.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('may break the protocol as it is turned away', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    await using _first = await RawPage.serve({ ...bridge.address, ...toolsOnly });
    // Reserved bits and opcode, unmasked.
    const { socket } = await shakeHands({ ...bridge.address, rest: Uint8Array.of(0xff, 0x7f) });
    await once(socket, 'close');
    expect(await bridge.agent.callTool('get_cells')).toMatchObject({ content: [{ text: 'here' }] });
  });

  it('a page that does not speak WebSocket after all does not block the next', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    expect(await statusOf({ ...bridge.address, headers: { 'Sec-WebSocket-Key': undefined } })).toBe(400);
    await using _page = await RawPage.serve({ ...bridge.address, ...toolsOnly });
    expect(await bridge.agent.callTool('get_cells')).toMatchObject({ content: [{ text: 'here' }] });
  });
});

describe('the port', () => {
  it('is the same on both loopback addresses, and on no other', { tags: ['P-114'] }, async () => {
    await using bridge = await Bridge.open();
    const { port, token } = bridge.address;
    for (const [address, host] of [
      ['127.0.0.1', '127.0.0.1'],
      ['::1', '[::1]'],
    ] as const) {
      const socket = new WebSocket(`ws://${host}:${port}/?access_token=${token}`, ['mcp'], { origin: colabOrigin });
      await once(socket, 'open');
      socket.terminate();
      expect(await statusOf({ port, token: 'x', address })).toBe(403);
    }
    const elsewhere = connect(port, '127.0.0.2');
    const [error] = await once(elsewhere, 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it.each(['127.0.0.1', '::1'])('a port that is taken on %s is an error that says by whom', { tags: ['deep'] }, async (address) => {
    const taker = createServer();
    await new Promise<void>((resolve) => taker.listen(0, address, resolve));
    onTestFinished(() => void taker.close());
    const { port } = taker.address() as AddressInfo;
    const program = new Program({ args: ['--port', String(port)] });
    expect(await program.close()).toBe(1);
    expect(program.stderr).toContain(`Port ${port} is taken`);
    if (process.platform === 'linux') expect(program.stderr).toContain(`(pid ${process.pid})`);
    expect(program.stderr).not.toContain('    at ');
    await expect(Bridge.open({ port })).rejects.toMatchObject({ code: 'port_in_use', data: { port } });
  });

  it('answers plain HTTP harmlessly', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    const { port, token } = bridge.address;
    const url = `http://127.0.0.1:${port}`;
    for (const [path, init, status] of [
      ['/', {}, 426],
      [`/?access_token=${token}`, {}, 426],
      ['/favicon.ico', {}, 404],
      ['/', { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }, 426],
      ['/', { method: 'OPTIONS', headers: { Origin: colabOrigin, 'Access-Control-Request-Method': 'POST' } }, 426],
    ] as const) {
      const response = await fetch(url + path, init);
      expect(response.status).toBe(status);
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(await response.text()).not.toContain(token);
    }
    const foreign = connect(port, '127.0.0.1');
    foreign.write('GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n');
    expect((await replyOn(foreign)).status).toBe(403);
    const nonsense = connect(port, '127.0.0.1');
    nonsense.write('\x16\x03\x01 TLS or worse\r\n\r\n');
    expect((await replyOn(nonsense)).status).toBe(400);
  });
});

describe('the token', () => {
  it('has at least 128 bits, differs per start and outlives reloads', { tags: ['P-116'] }, async () => {
    const tokens = new Set<string>();
    for (let start = 0; start < 20; start++) {
      await using bridge = await Bridge.open();
      const { token } = bridge.wss;
      tokens.add(token);
      expect(Buffer.from(token, 'base64url').length * 8).toBeGreaterThanOrEqual(128);
      expect(token).toMatch(/^[\w-]+$/);
    }
    expect(tokens.size).toBe(20);
    await using bridge = await Bridge.open();
    const before = bridge.wss.token;
    for (let reload = 0; reload < 3; reload++) await (await RawPage.serve(bridge.address)).close();
    expect(bridge.wss.token).toBe(before);
  });
});

describe('strangers who hold sockets open', () => {
  it('are counted when they say nothing, closed or not', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    const { port } = bridge.address;
    expect(bridge.wss.silentConnections).toBe(0);
    using sockets = await dialMany(port, 3);
    await expect.poll(() => bridge.wss.silentConnections).toBe(3);
    sockets[0]?.destroy();
    await statusOf({ port, token: 'x' });
    expect(bridge.wss.silentConnections).toBe(3);
  });

  it('cannot keep a page out, 300 of them', { tags: ['P-119'] }, async () => {
    await using bridge = await Bridge.open();
    using _silent = await dialMany(bridge.address.port, 300);
    await using _page = await RawPage.serve({ ...bridge.address, ...toolsOnly });
    using _slow = await dialMany(bridge.address.port, 300, 'GET / HTTP/1.1\r\n');
    expect(await bridge.agent.callTool('get_cells')).toMatchObject({ content: [{ text: 'here' }] });
  });
});
