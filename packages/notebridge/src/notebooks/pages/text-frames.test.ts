import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { TextFrames } from './page-connection.js';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** The two ends of a real connection. */
async function connect(): Promise<{ frames: TextFrames; server: WebSocket; client: WebSocket; heard: string[] }> {
  const listener = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(listener, 'listening');
  closers.push(() => listener.close());
  const client = new WebSocket(`ws://127.0.0.1:${(listener.address() as AddressInfo).port}`);
  const heard: string[] = [];
  client.on('message', (data) => heard.push(data.toString()));
  const [server, request] = (await once(listener, 'connection')) as [WebSocket, { socket: Duplex }];
  await once(client, 'open');
  closers.push(() => client.terminate());
  const frames = new TextFrames({ stream: request.socket, isOpen: () => server.readyState === server.OPEN });
  return { frames, server, client, heard };
}

describe('TextFrames', () => {
  it('brings texts of every size and alphabet to a real client, in order, between the frames of the socket itself', async () => {
    const { frames, server, client, heard } = await connect();
    const sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000, 3_000_000];
    const texts = sizes.flatMap((size) => ['a', 'é', '✓', '😀'].map((letter) => letter.repeat(size)));
    const pongs: unknown[] = [];
    server.on('pong', () => pongs.push(1));
    for (const [index, text] of texts.entries()) {
      frames.send(text);
      if (index % 5 === 0) server.ping();
      if (index % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    frames.send('last');
    await new Promise<void>((resolve) => client.on('message', (data) => data.toString() === 'last' && resolve()));
    expect(heard.length).toBe(texts.length + 1);
    expect(heard.every((text, index) => text === (texts[index] ?? 'last'))).toBe(true);
    while (pongs.length < Math.ceil(texts.length / 5)) await once(server, 'pong');
  });

  it('counts what is not written yet, and writes it before a farewell', async () => {
    const { frames, server, client, heard } = await connect();
    frames.send('12345');
    expect(frames.waiting).toBe(5);
    frames.flush();
    expect(frames.waiting).toBe(0);
    server.close(1000);
    await once(client, 'close');
    expect(heard).toEqual(['12345']);
  });

  it('writes nothing behind a farewell', async () => {
    const { frames, server, client, heard } = await connect();
    server.close(1000);
    frames.send('too late');
    const [code] = await once(client, 'close');
    expect([code, heard]).toEqual([1000, []]);
  });
});
