import { createServer } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { boundedConnections } from './connections.js';

it('cuts one for each that is too many, also of those that come in one turn', () => {
  const server = createServer();
  boundedConnections(4).watch(server);
  const sockets = Array.from({ length: 10 }, () => new Socket());
  for (const socket of sockets) server.emit('connection', socket);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([...Array(6).fill(true), ...Array(4).fill(false)]);
  for (const socket of sockets) socket.destroy();
});
