/** What the relay itself fetches, from a real server on loopback. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRelayFetch } from '@notebridge/sandbox/relay/relay-fetch';
import { expect, test } from 'vitest';

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

test('a fetch goes to allowed servers on public addresses, also behind a redirect, and to nothing else', { tags: ['P-262'] }, async () => {
  const asked: string[] = [];
  const server = createServer(({ headers, url = '' }, response) => {
    asked.push(`${headers.host}${url}`);
    response.writeHead(url === '/' ? 200 : 302, { location: url.slice(1) }).end('here');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const [allowed, other, inside] = ['a.example', 'b.example', 'inside.example'].map((name) => `${name}:${port}`);
  const lookup = async (name: string) => [name === 'inside.example' ? '10.0.0.1' : '127.0.0.1'];
  const seam = { lookup, mayConnect: (address: string) => address === '127.0.0.1' };
  const fetch = createRelayFetch({ allow: [`${allowed}`, `${inside}`], seam });
  const get = async (url: string) => {
    const { status, body } = await fetch(
      { url, method: 'GET', headers: [], body: undefined, redirect: 'follow' },
      new AbortController().signal,
    );
    body.destroy();
    return status;
  };
  try {
    expect(await get(`http://${allowed}/http://${allowed}/`)).toBe(200);
    const refusal = `"${other}" is not one of the servers that code may reach. Notebridge allows it with: --allow-net ${other}`;
    for (const url of [`http://${other}/`, `http://${allowed}/http://${other}/`]) await expect(get(url)).rejects.toThrow(refusal);
    for (const url of [`http://${inside}/`, `http://${allowed}/http://${inside}/`])
      await expect(get(url)).rejects.toThrow('is at 10.0.0.1');
    expect(asked.filter((url) => !url.startsWith(`${allowed}`))).toEqual([]);
  } finally {
    server.close();
  }
});
