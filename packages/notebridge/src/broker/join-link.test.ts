import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openJoinLink } from './join-link.js';

describe('openJoinLink', () => {
  it('fails calls with "closed" when the other process is killed, also when that resets the connection', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    const [far] = await accepted;
    const peer = openJoinLink(socket, () => ({ request: () => Promise.resolve({}), notify: () => {}, closed: () => {} }));
    const call = peer.request('tools/call', {});
    far.resetAndDestroy();
    await expect(call).rejects.toMatchObject({ code: 'closed' });
    server.close();
  });
});
