// @module-tag deep

import { codeOf } from '@notebridge/protocol/core/errors';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { describe, expect, it, vi } from 'vitest';
import { hangsAfterMs } from '../support/hangs-after.js';
import { type HttpKind, HttpUpstream } from '../support/http-upstream.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';
import { createCall, httpConfig, openUpstreams } from '../support/upstreams.js';

async function open(kind: HttpKind, more: Parameters<typeof httpConfig>[1] = {}, limits = { coolDownMs: 0 }) {
  const upstream = await HttpUpstream.open(kind);
  const config = httpConfig(upstream.url, { transport: kind === 'sse' ? 'sse' : 'http', ...more });
  return { upstream, ...openUpstreams([config], { limits }) };
}

const echoed = (text: string) => ({ content: [{ type: 'text', text }] });
const untilNoted = (upstream: HttpUpstream, note: string) => vi.waitUntil(() => upstream.notes.includes(note), { timeout: hangsAfterMs });

describe.each(['sessions', 'sse', 'modern'] as const)('a server over HTTP (%s)', (kind) => {
  it('is called like any other, with the headers of its config', async () => {
    const { upstream, upstreams, server, call } = await open(kind, { headers: { authorization: 'Bearer abc', 'x-team': 'blue' } });
    await upstreams.start();
    expect((await server().listTools()).map(({ name }) => name)).toContain('echo');
    expect(await call('echo', { text: 'hi' })).toEqual(echoed('hi'));
    expect(server().state).toMatchObject({ status: 'running', protocolVersion: kind === 'modern' ? '2026-07-28' : '2025-11-25' });
    expect(server().state.pid).toBeUndefined();
    expect(upstream.headers.every(({ authorization, 'x-team': team }) => authorization === 'Bearer abc' && team === 'blue')).toBe(true);
  });

  it('runs many calls at once, each with its own answer', async () => {
    const { call } = await open(kind);
    const texts = Array.from({ length: 50 }, (_, n) => `text ${n}`);
    expect(await Promise.all(texts.map((text) => call('echo', { text })))).toEqual(texts.map(echoed));
  });

  it('is not available while nothing answers there, and is called again when it is back', async () => {
    const { upstream, upstreams, server, call } = await open(kind);
    await upstream.stop();
    await upstreams.start();
    expect(server().state).toMatchObject({ status: 'starting', reason: expect.stringContaining('ECONNREFUSED') });
    const error: unknown = await call('echo', { text: 'hi' }).catch((rejected: unknown) => rejected);
    expect(error).toMatchObject({ code: 'upstream_unavailable', message: expect.stringContaining('ECONNREFUSED') });
    await upstream.start();
    expect(await call('echo', { text: 'hi' })).toEqual(echoed('hi'));
  });

  it('is tried again by itself while nothing answers there; nobody waits for it for long, and it is not given up', {
    tags: ['P-063'],
  }, async () => {
    const { upstream, upstreams, server, call, log, until } = await open(kind, {}, { coolDownMs: 60_000 });
    await upstream.stop();
    const startedAt = performance.now();
    await upstreams.start();
    expect(performance.now() - startedAt).toBeGreaterThan(1500);
    const calledAt = performance.now();
    await expect(call('echo', { text: 'hi' })).rejects.toMatchObject({ code: 'upstream_unavailable', data: { ran: 'no' } });
    expect(performance.now() - calledAt).toBeLessThan(soonerThanNeverMs);
    await upstream.start();
    await until(() => server().state.status === 'running');
    // The session of the agent that called is tried again by itself, too.
    const again = () => call('echo', { text: 'hi' }).catch(() => undefined);
    await expect.poll(again, { timeout: hangsAfterMs }).toEqual(echoed('hi'));
    expect(log.filter((line) => line.includes('is given up'))).toEqual([]);
  });

  it('is greeted anew when it came back after it went; the call that found out is answered', async () => {
    const { upstream, upstreams, call } = await open(kind);
    await upstreams.start();
    expect(await call('echo', { text: 'one' })).toEqual(echoed('one'));
    await upstream.stop();
    await upstream.start();
    expect(await call('echo', { text: 'two' })).toEqual(echoed('two'));
  });

  it('says which status a call was refused with', async () => {
    const { upstream, server, call } = await open(kind, { timeoutMs: 30_000 });
    await server().listTools();
    // The agent has a session of its own there.
    await call('echo', { text: 'hi' });
    upstream.status = 503;
    const error: unknown = await call('echo', { text: 'hi' }).catch((rejected: unknown) => rejected);
    expect(error).toMatchObject({ code: 'upstream_unavailable', message: expect.stringContaining('HTTP 503'), data: { ran: 'unknown' } });
    upstream.status = undefined;
    expect(await call('echo', { text: 'hi' })).toEqual(echoed('hi'));
  });

  it('is left alone once it is closed', { tags: ['P-352'] }, async () => {
    const { upstream, upstreams, log, server } = await open(kind);
    await upstreams.start();
    await upstreams.close();
    expect(server().state).toMatchObject({ status: 'stopped', restarts: 0 });
    expect(log.filter((line) => line.includes('is started again'))).toEqual([]);
    const before = upstream.headers.length;
    // Longer than the pause before a restart.
    const other = await open(kind);
    await other.upstreams.start();
    await other.call('echo', { text: 'hi' });
    expect(upstream.headers).toHaveLength(before);
  });

  it('a server that refuses our key is not tried again and again', async () => {
    const { upstream, upstreams, server } = await open(kind);
    upstream.status = 401;
    await upstreams.start();
    expect(server().state).toMatchObject({ status: 'failed', restarts: 0 });
    expect(server().state.reason).toMatch(/HTTP 401|401/);
    // Nor in the other era.
    expect(upstream.headers).toHaveLength(1);
  });
});

describe.each(['sessions', 'modern'] as const)('a server over Streamable HTTP (%s)', (kind) => {
  it('hears that a call was cancelled', async () => {
    const { upstream, call } = await open(kind);
    const context = createCall('wait');
    const waiting = call('wait', {}, context).catch((error: unknown) => error);
    await untilNoted(upstream, 'wait');
    context.cancellation.cancel('enough');
    expect(codeOf(await waiting)).toBe('cancelled');
    await untilNoted(upstream, 'cancelled');
  });

  it('fails the calls that it worked on when it goes, and does not run them twice', async () => {
    const { upstream, upstreams, server, call } = await open(kind);
    await upstreams.start();
    await server().listTools();
    const waiting = call('wait').catch((error: unknown) => error);
    await untilNoted(upstream, 'wait');
    await upstream.stop();
    expect(await waiting).toMatchObject({ code: 'upstream_unavailable', data: { ran: 'unknown' } });
    await upstream.start();
    expect(await call('echo', { text: 'hi' })).toEqual(echoed('hi'));
    expect(upstream.notes.filter((note) => note === 'wait')).toEqual(['wait']);
  });

  it('carries 20 MB', async () => {
    const { call } = await open(kind);
    const { content } = (await call('big')) as ToolResult;
    expect(String(content?.[0]?.text)).toHaveLength(20 * 1024 * 1024);
  });
});

describe('a server with sessions', () => {
  it('a server that forgot our session is greeted anew, and the call is run once', async () => {
    const { upstream, upstreams, call } = await open('sessions');
    await upstreams.start();
    await call('echo', { text: 'one' });
    upstream.forget();
    expect(await call('echo', { text: 'two' })).toEqual(echoed('two'));
    expect(upstream.notes).toEqual(['echo one', 'echo two']);
  });

  it('tells of changes of its tools', async () => {
    const { upstream, upstreams, server, events, until } = await open('sessions');
    await upstreams.start();
    await server().listTools();
    // Its stream for such news is open when it was asked for.
    await vi.waitUntil(() => upstream.headers.some(({ accept }) => accept === 'text/event-stream'), { timeout: hangsAfterMs });
    events.length = 0;
    upstream.changeTools();
    await until(() => events.some(({ kind }) => kind === 'tools'));
    expect(server().knownTools?.map(({ name }) => name)).toContain('new');
  });

  it('hears that we are done with it', async () => {
    const { upstream, upstreams } = await open('sessions');
    await upstreams.start();
    const before = upstream.headers.length;
    await upstreams.close();
    expect(upstream.headers.slice(before).some((headers) => headers['mcp-session-id'] !== undefined)).toBe(true);
  });
});

describe('the key of a server over HTTP', () => {
  it('stands in no log', { tags: ['P-069'] }, async () => {
    const upstream = await HttpUpstream.open('sessions');
    upstream.status = 500;
    const secret = 'key-0123456789';
    const config = httpConfig(upstream.url, { headers: { authorization: `Bearer ${secret}` } });
    const { upstreams, log, server } = openUpstreams([config], { redactor: new Redactor() });
    await upstreams.start();
    expect(JSON.stringify([log, server().state])).not.toContain(secret);
    expect(log).not.toEqual([]);
  });
});
