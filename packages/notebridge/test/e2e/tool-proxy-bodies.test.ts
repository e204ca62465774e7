// @module-tag deep

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { jsonHeaders, openToolProxy } from '../support/tool-proxy.js';

it('no memory beyond a bound is kept for large bodies that do not come whole, and small ones are taken meanwhile', {
  tags: ['P-139'],
}, async () => {
  await using large = await openToolProxy({ http: { maxBodyBytes: 16 * 2 ** 20 } });
  const { port } = large.listener;
  const head = [
    `POST /api/v1/mcp/proxy/github/tools/hello HTTP/1.1\r\nhost: 127.0.0.1:${port}`,
    ...Object.entries(jsonHeaders).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n');
  const piece = Buffer.alloc(15 * 2 ** 20, 32);
  const slow: Socket[] = [];
  const answers: string[] = [];
  for (let n = 0; n < 18; n++) {
    const socket = connect(port, '127.0.0.1').on('data', (data) => answers.push(String(data)));
    slow.push(socket);
    socket.write(`${head}\r\ncontent-length: ${16 * 2 ** 20}\r\n\r\n`);
    await new Promise((resolve) => socket.write(piece, resolve));
  }
  await expect.poll(() => answers.length).toBe(1);
  expect(answers.join()).toMatch(/^HTTP\/1.1 503 [\s\S]*retry-after: 1/i);
  expect((await large.call('hello')).status).toBe(200);
  const ends = slow.map((socket) => once(socket, 'close'));
  for (const socket of slow) socket.destroy();
  await Promise.all(ends);
  const args = { text: 'x'.repeat(2 ** 20) };
  await expect.poll(async () => (await large.call('hello', args)).status).toBe(200);
});
