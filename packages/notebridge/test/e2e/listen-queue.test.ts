// @module-tag deep
// @module-tag P-611

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ServedHub } from '../support/served-hub.js';

const connections = 1500;
const systemLimit = process.platform === 'linux' ? Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')) : 0;

describe('a hub that is busy', () => {
  it('has those wait that come at once, and turns none of them away', async ({ skip }) => {
    skip(systemLimit < connections, `this system has no more than ${systemLimit} connections wait`);
    await using hub = await ServedHub.start();
    hub.child.kill('SIGSTOP');
    const sockets: Socket[] = [];
    try {
      const opened = Array.from({ length: connections }, () => {
        const socket = connect({ port: hub.port, host: '127.0.0.1' });
        sockets.push(socket);
        return new Promise<string>((resolve) => {
          socket.once('connect', () => resolve('there')).on('error', (error) => resolve(error.message));
        });
      });
      expect(new Set(await Promise.all(opened))).toEqual(new Set(['there']));
    } finally {
      for (const socket of sockets) socket.destroy();
      hub.child.kill('SIGCONT');
    }
  });
});
