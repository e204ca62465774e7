/** What the relay itself fetches, from a real server on loopback. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createRelayFetch } from '../../src/relay/relay-fetch.js';

test('a redirect to what is no address leaves no connection open', async () => {
  const server = createServer((_request, response) => {
    // The answer does not end: only who asked can end it.
    response.writeHead(302, { location: 'http://[' }).write('elsewhere');
  });
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const closed = new Promise<void>((resolve) => server.once('connection', (socket) => socket.once('close', () => resolve())));
    const fetch = createRelayFetch({
      allow: [`a.example:${port}`],
      seam: { lookup: async () => ['127.0.0.1'], mayConnect: () => true },
    });
    const request = { url: `http://a.example:${port}/`, method: 'GET', headers: [], body: undefined, redirect: 'follow' } as const;
    await expect(fetch(request, new AbortController().signal)).rejects.toThrow('leads on to what is no address');
    await closed;
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
