// @module-tag deep
// @module-tag P-359

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, expect, it } from 'vitest';
import { initialize } from '../support/mcp-http.js';
import { requestBytes } from '../support/raw-http.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

/** What agents over HTTP cost that do nothing, or do not read. */

const timeout = 240_000;
const isLinux = process.platform === 'linux';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Megabytes that it holds now, or that it ever held at once. */
function memoryOf({ pid }: ServedHub, kind: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

const headersFor = (hub: ServedHub, session: string | undefined, more: Record<string, string> = {}) => ({
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  authorization: `Bearer ${hub.ownerToken}`,
  ...(session === undefined ? {} : { 'mcp-session-id': session }),
  ...more,
});

async function openSession(hub: ServedHub): Promise<string> {
  const response = await fetch(new URL('/mcp', hub.url), {
    method: 'POST',
    headers: headersFor(hub, undefined),
    body: JSON.stringify(initialize()),
  });
  await response.text();
  return response.headers.get('mcp-session-id') ?? expect.fail(`No session: ${response.status}`);
}

/** Sends a request on a connection of its own, reads until the first event has its id, and no more. */
async function askWithoutReading(hub: ServedHub, session: string, message?: JsonObject, eventId?: string): Promise<string> {
  const headers = headersFor(hub, session, { connection: 'keep-alive', ...(eventId === undefined ? {} : { 'last-event-id': eventId }) });
  const request = message === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(message) };
  const socket = connect(hub.port, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  socket.write(requestBytes(hub.port, { target: '/mcp', ...request }));
  let text = '';
  for (;;) {
    await new Promise((resolve) => socket.once('readable', resolve).once('close', resolve));
    text += String(socket.read() ?? '');
    const id = /^id: (\S+)$/m.exec(text)?.[1];
    if (id !== undefined) return id;
    if (socket.destroyed) expect.fail(`No event: ${text.slice(0, 500)}`);
  }
}

it.runIf(isLinux)('1,000 idle sessions, each with a stream, take 60 MB at most', { timeout }, async () => {
  await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
  // What the first ones load is not of the sessions.
  for (let session = 0; session < 10; session++) await openSession(hub);
  const before = memoryOf(hub, 'VmRSS');
  for (let opened = 0; opened < 1000; opened += 20)
    await Promise.all(Array.from({ length: 20 }, async () => askWithoutReading(hub, await openSession(hub))));
  expect(memoryOf(hub, 'VmRSS') - before).toBeLessThan(60);
});

it.runIf(isLinux)('an agent that reads nothing, and comes back for it again and again, stays within its bound', { timeout }, async () => {
  const servers = { floods: { command: process.execPath, args: [fixtureServer('floods.mjs')] } };
  await using hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
  const session = await openSession(hub);
  const call = (id: number, times: number): JsonObject => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'floods__flood', arguments: { times }, _meta: { progressToken: id } },
  });
  // 300 MB of progress, on ten streams.
  const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => askWithoutReading(hub, session, call(n + 2, 300))));
  // 30 times what is kept of each, 16 MiB in all: 480 MB if each waited in a connection of its own.
  for (let times = 0; times < 30; times++) await Promise.all(ids.map((id) => askWithoutReading(hub, session, undefined, id)));
  const response = await fetch(new URL('/mcp', hub.url), {
    method: 'POST',
    headers: headersFor(hub, session),
    body: JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'ping' }),
  });
  expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 99, result: {} });
  expect(memoryOf(hub, 'VmHWM')).toBeLessThan(350);
});
