import type { Transport } from '@modelcontextprotocol/server';
import WebSocket from 'ws';
import { colabOrigin } from './raw-page.js';

/** What makes the official SDK's server a page that dials in. */
export function openPageTransport({ port, token }: { port: number; token: string }): Transport {
  const socket = new WebSocket(`ws://localhost:${port}/?access_token=${token}`, ['mcp'], { origin: colabOrigin });
  const transport: Transport = {
    start: () => new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject)),
    send: async (message) => socket.send(JSON.stringify(message)),
    close: async () => socket.close(),
  };
  socket.on('message', (data) => transport.onmessage?.(JSON.parse(String(data))));
  socket.on('close', () => transport.onclose?.());
  return transport;
}
