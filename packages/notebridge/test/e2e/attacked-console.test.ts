import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const key = 'sk/Ab+cd=é"9%x z/long-enough';
const evil = { command: process.execPath, args: [fixtureServer('against-console.mjs')], env: { THE_KEY: key } };

/** Megabytes of memory that the process has. */
function memoryOf({ pid }: ServedHub): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

describe('what the owner and those who watch are shown', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    hub = await ServedHub.start({ servers: { evil }, notebridge: { telemetry: { metrics: true } }, args: ['--notebook', 'none'] });
  });
  afterAll(() => hub?.[Symbol.asyncDispose]());

  const lastCall = async (): Promise<string> => {
    const { calls } = (await (await hub.request('/api/v1/hub/calls?limit=1', { token: hub.ownerToken })).json()) as { calls: JsonObject[] };
    return (await hub.request(`/api/v1/hub/calls/${String(calls[0]?.id)}`, { token: hub.ownerToken })).text();
  };

  it.each(['plain', 'slash', 'unicode', 'lower', 'url', 'url-lower', 'form', 'json3', 'inner-unicode', 'inner-slash'])(
    'has no secret of the config in it, which a result spells as %s',
    { tags: ['P-515'] },
    async (how) => {
      await hub.call('evil', 'spell', { how }, hub.ownerToken);
      const shown = await lastCall();
      expect(shown).toMatch(/\[redacted: \w+/);
      expect(shown).not.toMatch(/long-enough|enough|u0065|%65/i);
      expect(() => JSON.parse(shown)).not.toThrow();
    },
  );

  it('has none in names that callers chose and in descriptions, nor what a server printed where one only watches', {
    tags: ['P-515', 'P-516'],
  }, async () => {
    const { token } = await hub.grant('--door', 'watch');
    const events = await hub.request('/api/v1/hub/events', { token });
    const reader = events.body?.getReader();
    await hub.call('evil', encodeURIComponent(key), {}, hub.ownerToken);
    let heard = '';
    while (!heard.includes('"state":"ended"')) heard += new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    await hub.call('evil', 'say', { what: 'a private word' }, hub.ownerToken);
    await hub.call('evil', 'die', {}, hub.ownerToken);
    const ask = async (path: string, by: string): Promise<string> => (await hub.request(`/api/v1/hub${path}`, { token: by })).text();
    await expect.poll(() => ask('', token)).toContain('exit code 3');
    for (const text of [heard, await ask('', token), await ask('/servers', token), await ask('/calls', token)]) {
      expect(text).not.toContain('long-enough');
      expect(text).not.toContain('private word');
    }
    expect(await ask('/servers', hub.ownerToken)).toContain('private word');
  });

  it('costs the calls of others little, however often a grant that watches asks', { tags: ['P-516'] }, async () => {
    const [one, other] = [await hub.grant('--door', 'watch'), await hub.grant('--door', 'watch')];
    const statuses: number[] = [];
    let isOver = false;
    const flood = async (): Promise<void> => {
      while (!isOver) {
        const answer = await hub.request('/api/v1/hub/servers', { token: one.token });
        await answer.arrayBuffer();
        statuses.push(answer.status);
      }
    };
    const floods = Array.from({ length: 8 }, flood);
    await expect.poll(() => statuses.includes(429)).toBe(true);
    // Its share is given back as time passes, so that now and then one of its requests is answered, whichever it is.
    for (const path of ['/metrics', '/api/v1/hub'])
      await expect.poll(async () => (await hub.request(path, { token: one.token })).status, { message: path }).toBe(429);
    expect((await hub.request('/api/v1/hub', { token: other.token })).status).toBe(200);
    expect((await hub.request('/api/v1/hub', { token: hub.ownerToken })).status).toBe(200);
    isOver = true;
    await Promise.all(floods);
  });
});

describe('streams of events', () => {
  it('are given up by a grant that has many to one that has none', { tags: ['P-516', 'P-492'] }, async () => {
    await using hub = await ServedHub.start({ servers: { evil }, args: ['--notebook', 'none'] });
    const [many, none] = [await hub.grant('--door', 'watch'), await hub.grant('--door', 'watch')];
    const sockets: Socket[] = [];
    let closed = 0;
    try {
      for (let count = 0; count < 32; count++) {
        const socket = connect(hub.port, '127.0.0.1').on('error', () => {});
        socket.once('close', () => closed++);
        const head = `GET /api/v1/hub/events HTTP/1.1\r\nHost: 127.0.0.1:${hub.port}\r\nAuthorization: Bearer ${many.token}\r\n\r\n`;
        socket.write(head);
        await new Promise((resolve) => socket.once('data', resolve));
        sockets.push(socket);
      }
      const taken = await hub.request('/api/v1/hub/events', { token: none.token });
      expect(taken.status).toBe(200);
      await expect.poll(() => closed).toBe(1);
      expect((await hub.request('/api/v1/hub/events', { token: many.token })).status).toBe(503);
      await taken.body?.cancel();
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe('calls that are remembered', () => {
  it.each([true, false])('hold nothing of what is not kept (keepCalls: %s)', { tags: ['deep', 'P-514'] }, async (keepCalls) => {
    await using hub = await ServedHub.start({ servers: { evil }, notebridge: { keepCalls }, args: ['--notebook', 'none'] });
    const call = (big: string): Promise<unknown> => hub.call('evil', 'say', { what: '.', big }, hub.ownerToken);
    const big = 'y'.repeat(9 * 1024 * 1024);
    for (let count = 0; count < 5; count++) await call(big);
    const before = memoryOf(hub);
    for (let count = 0; count < 9; count++) await call(big);
    for (let count = 0; count < 5; count++) await call('');
    // What is let go may be collected later, while calls are made.
    const more = async (): Promise<number> => {
      await call('');
      return memoryOf(hub) - before;
    };
    await expect.poll(more, { interval: 100 }).toBeLessThan(75);
  });
});
