// @module-tag P-337

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Peer } from '@notebridge/protocol/rpc/peer';
import { expect, it, onTestFinished } from 'vitest';
import { openJoinLink } from './join-link.js';

const nobody = { request: () => Promise.reject(new Error('nothing is asked here')), notify: () => {}, closed: () => {} };
const megabyte = 'x'.repeat(1024 * 1024);

/** A host that answers each question with a megabyte, and links to it. */
async function openHost() {
  const began: string[] = [];
  const hostSockets: Socket[] = [];
  const server = createServer((socket) => {
    hostSockets.push(socket);
    openJoinLink(socket, () => ({
      ...nobody,
      request: async (_method, { who }: JsonObject) => {
        began.push(String(who));
        return { megabyte };
      },
    }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const join = async (): Promise<{ peer: Peer; socket: Socket }> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    onTestFinished(() => void socket.destroy());
    return { peer: openJoinLink(socket, () => nobody), socket };
  };
  onTestFinished(() => void server.close());
  return { began, hostSockets, join };
}

it('serves others between the requests of one that asks for much at once', async () => {
  const { began, join } = await openHost();
  const [flood, other] = [await join(), await join()];
  const flooding = Array.from({ length: 80 }, () => flood.peer.request('get', { who: 'flood' }));
  await other.peer.request('get', { who: 'other' });
  expect(began.indexOf('other')).toBeLessThan(40);
  expect(await Promise.all(flooding)).toHaveLength(80);
});

it('begins nothing more for one that reads nothing, and goes on when it reads', async () => {
  const { began, hostSockets, join } = await openHost();
  const [silent, other] = [await join(), await join()];
  silent.socket.pause();
  const asked = Array.from({ length: 120 }, () => silent.peer.request('get', { who: 'silent' }));
  for (let turn = 0; turn < 20; turn++) await other.peer.request('get', { who: 'other' });
  expect(began.filter((who) => who === 'silent').length).toBeLessThan(60);
  for (const { writableLength } of hostSockets) expect(writableLength).toBeLessThan(40 * 1024 * 1024);
  silent.socket.resume();
  expect(await Promise.all(asked)).toHaveLength(120);
});

it('ends what waits when its link ends', { tags: ['deep'] }, async () => {
  const { hostSockets, join } = await openHost();
  const silent = await join();
  silent.socket.pause();
  const asked = Array.from({ length: 100 }, () => silent.peer.request('get', { who: 'silent' }).catch(() => 'ended'));
  await (await join()).peer.request('get', { who: 'other' });
  for (const socket of hostSockets) socket.destroy();
  silent.socket.destroy();
  expect(await Promise.all(asked)).toContain('ended');
});
