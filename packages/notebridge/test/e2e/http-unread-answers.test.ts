// @module-tag deep
// @module-tag P-202

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

/** What strangers send to the routes that ask for no token. */

const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] } };
const fewDescriptors = ['bash', '-c', 'ulimit -n 1024; exec "$@"', 'bash'];
const isLinux = process.platform === 'linux';
const timeout = 240_000;

const started = (launch: string[] = []): Promise<ServedHub> => ServedHub.start({ servers, launch, args: ['--notebook', 'none'] });

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** On each connection as many requests, one behind the other. Ready when each has a first answer, which nobody reads, or is closed. */
async function askWithoutReading({ port }: ServedHub, line: string, { connections, times }: { connections: number; times: number }) {
  const text = `${line} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`.repeat(times);
  const heard = Array.from({ length: connections }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    socket.write(text);
    return new Promise<unknown>((resolve) => socket.once('readable', resolve).once('close', resolve));
  });
  await Promise.all(heard);
}

/** The most memory that it ever held, MB. */
function peakOf({ pid }: ServedHub): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

it.runIf(isLinux)('the files of /docs cost no memory with each answer that nobody reads', { timeout }, async () => {
  await using hub = await started();
  await askWithoutReading(hub, 'GET /docs/static/swagger-ui-bundle.js', { connections: 16, times: 50 });
  expect(await hub.call('calls', 'echo', {}, hub.ownerToken)).toMatchObject({ status: 200 });
  // 800 copies would be 1.4 GB.
  expect(peakOf(hub)).toBeLessThan(500);
});

it.runIf(isLinux)('the files of /docs cost no descriptor with each request', { timeout }, async () => {
  await using hub = await started(fewDescriptors);
  await askWithoutReading(hub, 'HEAD /docs/static/favicon-32x32.png', { connections: 4, times: 900 });
  expect(await hub.call('calls', 'echo', {}, hub.ownerToken)).toMatchObject({ status: 200 });
  expect(hub.stderr.includes('EMFILE')).toBe(false);
});
