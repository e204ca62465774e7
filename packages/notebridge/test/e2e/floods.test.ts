// @module-tag deep
// @module-tag P-119

import { Agent, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { callAnew, Flood, type FloodKind } from '../support/flood.js';
import { Program } from '../support/program.js';
import { dialMany, statusOf } from '../support/raw-handshake.js';
import { untilClosed } from '../support/raw-http.js';
import { RawPage } from '../support/raw-page.js';
import { ServedHub } from '../support/served-hub.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';
import { fixtureServer } from '../support/upstreams.js';

const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] } };
const fewDescriptors = ['bash', '-c', 'ulimit -n 1024; exec "$@"', 'bash'];
/** More than a hub with 1,024 descriptors can hold, and more than anybody can who has the descriptors of this machine. */
const [some, many] = [1500, 4400];
/** 4,400 connections are seconds of work on a quiet machine, and a minute on one with ten times as much to do. */
const timeout = 240_000;

const kinds: FloodKind[] = [
  'silence',
  'half heads',
  'half heads, again',
  'half bodies',
  'half upgrades',
  'wrong upgrades',
  'wrong tokens',
  'idle ones',
  'readers that do not read',
];

const floods: [number, string[], FloodKind[], string[]][] = [
  [some, fewDescriptors, ['half heads', 'half bodies', 'wrong tokens'], []],
  [many, fewDescriptors, kinds, ['deep']],
  [many, [], ['half heads'], ['deep']],
];
for (const [count, launch, ofThese, tags] of floods) {
  const descriptors = launch.length > 0 ? '1,024 descriptors' : 'the descriptors of this machine';
  it.each(ofThese)(`a hub with ${descriptors} answers every call during a flood of ${count}: %s`, { timeout, tags }, async (kind) => {
    await using hub = await ServedHub.start({ servers, launch, args: ['--notebook', 'none'] });
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await keptCall(hub, kept)).toMatchObject({ status: 200 });
    await using flood = new Flood({ port: hub.port, count, kind });
    const calls: { status: number }[] = [];
    let isFull = false;
    const full = flood.full().then(() => {
      isFull = true;
    });
    // While it comes in, and for a while when it is there.
    for (let more = 20; more > 0; more -= isFull ? 1 : 0) calls.push(await callAnew(hub.port, hub.ownerToken));
    await full;
    expect(await keptCall(hub, kept)).toEqual({ status: 200, isReused: true });
    kept.destroy();
    expect(calls.filter(({ status }) => status !== 200)).toEqual([]);
    expect((await flood.counts()).opened).toBeGreaterThanOrEqual(count);
  });
}

describe('a hub with 1,024 descriptors', () => {
  it('lets newcomers in beside as many connections as a good token can hold', { timeout }, async () => {
    await using hub = await ServedHub.start({ servers, launch: fewDescriptors, args: ['--notebook', 'none'] });
    const { token } = await hub.grant('--allow', 'calls:echo');
    await using flood = new Flood({ port: hub.port, count: 1000, kind: 'half bodies with a token', token });
    await flood.full();
    for (let call = 0; call < 20; call++) expect(await callAnew(hub.port, hub.ownerToken)).toMatchObject({ status: 200 });
    expect((await flood.counts()).cut).toBeGreaterThan(0);
  });

  it('cuts no call that runs for requests that never come whole, whatever token they show', { timeout }, async () => {
    await using hub = await ServedHub.start({ servers, launch: fewDescriptors, args: ['--notebook', 'none'] });
    const { token } = await hub.grant('--allow', 'calls:echo');
    await using before = new Flood({ port: hub.port, count: 1500, kind: 'half bodies with a token', token });
    await before.full();
    let isCut = false;
    const headers = { authorization: `Bearer ${hub.ownerToken}`, 'content-type': 'application/json' };
    const running = request({ port: hub.port, method: 'POST', path: '/api/v1/mcp/proxy/calls/tools/wait', headers });
    running.on('error', () => {
      isCut = true;
    });
    running.end('{"arguments":{"key":"k"}}');
    expect(await callAnew(hub.port, hub.ownerToken)).toMatchObject({ status: 200 });
    await using after = new Flood({ port: hub.port, count: 1500, kind: 'half bodies with a token', token });
    await after.full();
    expect(await callAnew(hub.port, hub.ownerToken)).toMatchObject({ status: 200 });
    expect(isCut).toBe(false);
    running.destroy();
  });

  it('cuts no call of the owner for a grant that has all places, with a second request that never comes whole in each', {
    timeout,
  }, async () => {
    await using hub = await ServedHub.start({ servers, launch: fewDescriptors, args: ['--notebook', 'none'] });
    const { token } = await hub.grant('--allow', 'calls:echo');
    await using places = new Flood({ port: hub.port, count: 600, kind: 'half seconds with a token', token });
    await places.full();
    // Each has its first answer.
    await expect.poll(async () => (await places.counts()).answered).toBe(600);
    let isCut = false;
    const headers = { authorization: `Bearer ${hub.ownerToken}`, 'content-type': 'application/json' };
    const running = request({ port: hub.port, method: 'POST', path: '/api/v1/mcp/proxy/calls/tools/wait', headers });
    running.on('error', () => {
      isCut = true;
    });
    running.end('{"arguments":{"key":"k"}}');
    expect(await callAnew(hub.port, hub.ownerToken)).toMatchObject({ status: 200 });
    await using pendingConnections = new Flood({ port: hub.port, count: 1500, kind: 'silence' });
    await pendingConnections.full();
    expect(await callAnew(hub.port, hub.ownerToken)).toMatchObject({ status: 200 });
    expect(isCut).toBe(false);
    running.destroy();
  });

  it('cuts a head that is not there after 5 s', { timeout }, async () => {
    await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
    const startedAt = performance.now();
    using sockets = await dialMany(hub.port, 1, 'GET /healthz HTTP/1.1\r\nHost: x\r\n');
    const [socket] = sockets;
    expect(socket && (await untilClosed(socket))).toContain('408');
    const ms = performance.now() - startedAt;
    expect(ms).toBeGreaterThan(4900);
    expect(ms).toBeLessThan(soonerThanNeverMs);
  });
});

describe('the port for pages, with 1,024 descriptors', () => {
  const answer = ({ method }: Record<string, unknown>) =>
    method === 'tools/call' ? { result: { content: [{ type: 'text', text: 'here' }] } } : undefined;

  it.each<FloodKind>(['silence', 'half upgrades', 'wrong upgrades'])(
    'lets the page in during a flood: %s',
    { timeout, tags: ['deep'] },
    async (kind) => {
      await using program = await Program.open({ launch: fewDescriptors });
      const address = await program.address();
      await using flood = new Flood({ port: address.port, count: many, kind });
      await flood.full();
      await using _page = await RawPage.serve({ ...address, answer });
      expect(await program.callTool('get_cells')).toMatchObject({ result: { content: [{ text: 'here' }] } });
    },
  );

  it('goes on with its page while 1,500 others show its token and say nothing', { timeout }, async () => {
    await using program = await Program.open({ launch: fewDescriptors });
    const address = await program.address();
    await using _page = await RawPage.serve({ ...address, answer });
    await using flood = new Flood({ ...address, count: some, kind: 'pages that say nothing' });
    await flood.full();
    expect(await program.callTool('get_cells')).toMatchObject({ result: { content: [{ text: 'here' }] } });
    expect(await statusOf({ ...address, token: 'wrong' })).not.toBe(101);
  });
});

function keptCall(hub: ServedHub, agent: Agent): Promise<{ status: number; isReused: boolean }> {
  const headers = { authorization: `Bearer ${hub.ownerToken}`, 'content-type': 'application/json' };
  const path = '/api/v1/mcp/proxy/calls/tools/echo';
  return new Promise((resolve, reject) => {
    const sent = request({ port: hub.port, host: '127.0.0.1', method: 'POST', path, headers, agent })
      .on('response', (response) => {
        response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, isReused: sent.reusedSocket }));
      })
      .on('error', reject);
    sent.end('{"arguments":{}}');
  });
}
