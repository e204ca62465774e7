// @module-tag deep

// What takes its time, since waiting is what it is about: side by side, the longest first.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { Bridge } from '../support/bridge.js';
import { Program } from '../support/program.js';
import { dialMany, handshakeText, replyOn, shakeHands, statusOf } from '../support/raw-handshake.js';
import { untilClosed } from '../support/raw-http.js';
import { type PageAnswer, RawPage } from '../support/raw-page.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';

const here = { content: [{ type: 'text', text: 'here' }] };
const answer = ({ method }: JsonObject): PageAnswer => (method === 'tools/call' ? { result: here } : undefined);

async function timed<Result>(work: Promise<Result>): Promise<[Result, number]> {
  const start = performance.now();
  return [await work, performance.now() - start];
}

function peakMemoryMb(pid: number | undefined): number {
  const status = process.platform === 'linux' ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

describe.concurrent('in time', () => {
  it('a flood of 200,000 notifications costs no memory, and calls go on', { tags: ['P-142'] }, async () => {
    await using program = await Program.open();
    await using page = await RawPage.serve({ ...(await program.address()), answer });
    const line = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'debug', data: 'x'.repeat(200) } });
    await program.request('logging/setLevel', { level: 'error' });
    for (let sent = 0; sent < 200_000; sent++) page.socket.send(line);
    expect(await program.request('ping')).toMatchObject({ result: {} });
    expect(await program.callTool('get_cells')).toMatchObject({ result: here });
    expect(peakMemoryMb(program.child.pid)).toBeLessThan(300);
    expect(program.stderr.split('\n').length).toBeLessThan(20);
  });

  it('a stranger who dribbles headers is cut, and one who waits in silence for a person is not', { tags: ['P-119'] }, async () => {
    await using bridge = await Bridge.open();
    const { port, token } = bridge.address;
    using silent = await dialMany(port, 1);
    using slow = await dialMany(port, 1, 'GET / HTTP/1.1\r\nX: ');
    const dribble = setInterval(() => slow[0]?.write('x'), 100);
    // Cut in the middle of a word, the socket may well complain before it closes.
    slow[0]?.on('error', () => {});
    const [, ms] = await timed(untilClosed(slow[0] as Socket));
    clearInterval(dribble);
    expect(ms).toBeLessThan(soonerThanNeverMs);
    silent[0]?.write(handshakeText({ port, token }));
    expect((await replyOn(silent[0] as never)).status).toBe(101);
  });

  it.each(['static', 'dynamic'] as const)('a list of tools that never comes is done without (%s)', async (list) => {
    await using bridge = await Bridge.open({ list });
    const never = ({ method }: JsonObject): Promise<PageAnswer> | undefined =>
      method === 'tools/list' ? new Promise(() => {}) : undefined;
    await using _page = await RawPage.serve({ ...bridge.address, answer: never });
    const [names, ms] = await timed(bridge.agent.toolNames());
    expect(names).toContain('open_colab_browser_connection');
    expect(names).toHaveLength(list === 'static' ? 8 : 1);
    expect(ms).toBeLessThan(soonerThanNeverMs);
  });

  it('wrong tokens are refused ever more slowly, while the right one never waits', { tags: ['P-118'] }, async () => {
    await using bridge = await Bridge.open();
    const { port, token } = bridge.address;
    const guess = (): Promise<[number, number]> => timed(statusOf({ port, token: 'wrong' }));
    const times: number[] = [];
    for (let tries = 0; tries < 7; tries++) {
      const [status, ms] = await guess();
      expect(status).toBe(403);
      times.push(ms);
    }
    for (const [index, atLeastMs] of [0, 0, 0, 90, 190, 390, 790].entries()) expect(times[index]).toBeGreaterThan(atLeastMs);
    expect(Math.min(...times.slice(0, 3))).toBeLessThan(90);

    const slow = guess();
    const page = RawPage.serve({ port, token });
    expect(await Promise.race([slow.then(() => 'the wrong token'), page.then(() => 'the right one')])).toBe('the right one');
    expect((await slow)[1]).toBeGreaterThan(1500);
    await (await page).close();
  });

  it('a flood of wrong tokens costs others nothing: neither the page nor other refusals', async () => {
    await using bridge = await Bridge.open();
    const { port, token } = bridge.address;
    const guesses = Promise.all(Array.from({ length: 150 }, () => statusOf({ port, token: 'wrong' })));
    let isOver = false;
    void guesses.then(() => {
      isOver = true;
    });
    const others = await Promise.all([
      statusOf({ port, token, headers: { Origin: 'https://evil.example' } }),
      statusOf({ port, token, target: '/elsewhere' }),
    ]);
    expect(others).toEqual([403, 404]);
    const page = await RawPage.serve({ port, token, answer });
    expect(isOver).toBe(false);
    expect(await bridge.agent.callTool('get_cells')).toEqual(here);
    await page.close();
    // Told so, or cut without a word.
    expect(new Set(await guesses)).toEqual(new Set([403, 0]));
    expect(bridge.warnings.filter(({ message }) => message.includes('refused')).length).toBeLessThan(15);
  });

  it('a half-dead page gives way to the next within 2 s', { tags: ['P-042'] }, async () => {
    await using bridge = await Bridge.open({ graceMs: 0 });
    const dead = await shakeHands(bridge.address);
    const ended = once(dead.socket, 'close');
    const [page, ms] = await timed(RawPage.serve({ ...bridge.address, answer }));
    expect(ms).toBeGreaterThan(1500);
    expect(ms).toBeLessThan(soonerThanNeverMs);
    await ended;
    expect(await bridge.agent.callTool('get_cells')).toEqual(here);
    await page.close();
  });

  it('a page that leaves while it waits for its turn does not block the next', async () => {
    await using bridge = await Bridge.open();
    const { port, token } = bridge.address;
    const dead = await shakeHands({ port, token });
    const impatient = connect(port, '127.0.0.1').on('error', () => {});
    impatient.write(handshakeText({ port, token }));
    await once(impatient, 'connect');
    // When this is answered, what was sent before it has been read.
    await statusOf({ port, token, target: '/elsewhere' });
    impatient.resetAndDestroy();
    await using _page = await RawPage.serve({ port, token, answer });
    expect(await bridge.agent.callTool('get_cells')).toEqual(here);
    dead.socket.destroy();
  });

  it('a handshake that is never answered ends after handshakeMs, and the next page is served', async () => {
    // Long enough for the page that answers, on a busy machine too.
    await using bridge = await Bridge.open({ handshakeMs: 2000 });
    // One that does not even agree to the close.
    const mute = await shakeHands(bridge.address);
    const [, ms] = await timed(once(mute.socket, 'close'));
    expect(ms).toBeLessThan(soonerThanNeverMs);

    const page = await RawPage.connect({ ...bridge.address, answer: () => new Promise(() => {}) });
    expect(bridge.wss.connectionLive.isSet()).toBe(true);
    const call = bridge.agent.callTool('get_cells');
    expect(await page.closed).toBe(1000);
    expect(await call).toMatchObject({ isError: true, _meta: { 'notebridge/error_code': 'not_connected' } });
    await using _next = await RawPage.serve({ ...bridge.address, answer });
    expect(await bridge.agent.callTool('get_cells')).toEqual(here);
  });

  it('the port is free again after cleanup, whoever was connected', async () => {
    const bridge = await Bridge.open();
    const { port, token } = bridge.address;
    await RawPage.serve(bridge.address);
    const deaf = await shakeHands({ port, token });
    await dialMany(port, 20);
    const slow = Promise.all(Array.from({ length: 8 }, () => statusOf({ port, token: 'wrong' })));
    await statusOf({ port, token, target: '/' });
    const [, ms] = await timed(bridge[Symbol.asyncDispose]());
    expect(ms).toBeLessThan(soonerThanNeverMs);
    await slow;
    deaf.socket.destroy();
    const next = createServer();
    await new Promise<void>((resolve, reject) => next.once('error', reject).listen(port, '127.0.0.1', resolve));
    next.close();
  });
});
