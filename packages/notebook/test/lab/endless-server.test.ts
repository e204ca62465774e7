// @module-tag P-248

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { JupyterServer } from '../../src/lab/jupyter-server.js';
import { LabWorkspace } from '../../src/lab/lab-workspace.js';

const timeout = 120_000;

/** A server that does not do what Jupyter's does. */
async function hostile(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => answer(response.writeHead(200, { 'content-type': 'application/json' })));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

it('an answer without an end is refused at its limit, and does not fill our memory', { timeout }, async () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  let sent = 0;
  const baseUrl = await hostile((response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(megabyte)) sent++;
      sent++;
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  const asked = new JupyterServer({ baseUrl, token: '' }).request('api/sessions');
  await expect(asked).rejects.toMatchObject({ code: 'server_unreachable', message: expect.stringContaining('more than 256 MiB') });
  expect(sent).toBeLessThan(400);
});

// The timeout for one answer is a minute.
it.each(['before it is asked', 'while it is asked'])(
  'a server that never answers keeps no process from ending: %s',
  { tags: ['deep'], timeout: 45_000 },
  async (when) => {
    let hear = (): void => {};
    const asked = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const baseUrl = await hostile((response) => {
      response.write(' ');
      hear();
    });
    const workspace = new LabWorkspace({ target: { baseUrl, path: 'work.ipynb' }, env: {} });
    const calls = ['get_cells', 'list_notebooks'].map((name) => workspace.callTool(name, {}, { sessionId: '1' }));
    if (when === 'while it is asked') await asked;
    await workspace.close();
    for (const answer of await Promise.all(calls)) expect(answer).toMatchObject({ isError: true });
  },
);

it('a request that a closing connection cut off is made again, if it changes nothing', async () => {
  const heard: string[] = [];
  const server = createServer(({ method, socket }, response) => {
    heard.push(String(method));
    // As a proxy does that closes a connection just then.
    if (heard.length === 1 || method === 'POST') socket.destroy();
    else response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const jupyter = new JupyterServer({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, token: '' });
  await jupyter.request('api/sessions');
  expect(heard).toEqual(['GET', 'GET']);
  await expect(jupyter.request('api/sessions', { method: 'POST', body: {} })).rejects.toMatchObject({ code: 'server_unreachable' });
  expect(heard.slice(2)).toEqual(['POST']);
  server.closeAllConnections();
});
