// @module-tag P-119

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Connections, connectionsWithin, ownerHolder } from './connections.js';

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function listen(connections: Connections, onRequest: RequestListener = () => {}, onCut?: () => void): Promise<number> {
  const server = createServer(onRequest);
  connections.watch(server, onCut);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function dial(port: number, text = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const isCut = async (socket: Socket): Promise<void> => {
  if (!socket.closed) await once(socket.resume(), 'close');
};
const good = 'GET /good HTTP/1.1\r\nHost: x\r\n\r\n';

describe('Connections', () => {
  it('cuts the oldest that has shown no token, over all servers together', async () => {
    const connections = new Connections(() => 3);
    let cut = 0;
    const ports = [await listen(connections, undefined, () => cut++), await listen(connections, undefined, () => cut++)];
    const [one, two] = [await dial(ports[0] ?? 0), await dial(ports[1] ?? 0)];
    const rest = [await dial(ports[0] ?? 0), await dial(ports[1] ?? 0), await dial(ports[1] ?? 0)];
    await Promise.all([isCut(one), isCut(two)]);
    expect(cut).toBe(2);
    expect(rest.map(({ closed }) => closed)).toEqual([false, false, false]);
  });

  it('cuts none that has shown one, and lets newcomers in beside them', async () => {
    const connections = new Connections(() => 8);
    // The answers never end: all of them have work.
    const port = await listen(connections, ({ socket }, response) => {
      connections.trust(socket);
      response.write('x');
    });
    const busy: Socket[] = [];
    for (let count = 0; count < 8; count++) {
      const socket = await dial(port, good);
      await once(socket, 'data');
      busy.push(socket);
    }
    // Six is the share of those; the two that came last are like unknown clients.
    const newcomers = [await dial(port), await dial(port)];
    await Promise.all(busy.slice(6).map(isCut));
    expect([...busy.slice(0, 6), ...newcomers].map(({ closed }) => closed)).toEqual(Array.from({ length: 8 }, () => false));
  });

  it('closes those that wait for nothing when others with a token need their place', async () => {
    const connections = new Connections(() => 4);
    const port = await listen(connections, ({ socket }, response) => {
      connections.trust(socket);
      response.end('x');
    });
    const idle: Socket[] = [];
    for (let count = 0; count < 3; count++) {
      const socket = await dial(port, good);
      await once(socket, 'data');
      idle.push(socket);
    }
    const next = await dial(port, good);
    await once(next, 'data');
    await Promise.all(idle.map(isCut));
    expect(next.closed).toBe(false);
  });

  const busy = (connections: Connections) =>
    listen(connections, ({ socket, headers }, response) => {
      connections.trust(socket, String(headers.holder));
      response.write('x');
    });
  const of = (holder: string) => `GET / HTTP/1.1\r\nHost: x\r\nHolder: ${holder}\r\n\r\n`;
  const dialMany = async (port: number, text: string, count: number): Promise<Socket[]> => {
    const dialled: Socket[] = [];
    for (let number = 0; number < count; number++) {
      const socket = await dial(port, text);
      if (text !== '') await once(socket, 'data');
      dialled.push(socket);
    }
    return dialled;
  };

  it.each([ownerHolder, 'another grant'])('cuts no call of %s for a client whose calls take all places', async (holder) => {
    const connections = new Connections(() => 8);
    const port = await busy(connections);
    const hostile = await dialMany(port, of('hostile'), 6);
    const [call] = await dialMany(port, of(holder), 1);
    const pendingConnections = await dialMany(port, '', 20);
    await Promise.all(pendingConnections.slice(0, 17).map(isCut));
    expect(call?.closed).toBe(false);
    // One gave its place back, and was cut like an unknown client.
    await isCut(hostile[5] as Socket);
    expect(hostile.slice(0, 5).every(({ closed }) => !closed)).toBe(true);
  });

  it('takes no place from the owner, and none from who holds as few', async () => {
    const connections = new Connections(() => 8);
    const port = await busy(connections);
    const kept = [...(await dialMany(port, of(ownerHolder), 4)), ...(await dialMany(port, of('one'), 2))];
    const late = await dialMany(port, of('one'), 2);
    await dialMany(port, '', 20);
    await Promise.all(late.map(isCut));
    expect(kept.every(({ closed }) => !closed)).toBe(true);
  });

  it("a connection that shows the token of the owner after that of a grant is the owner's", async () => {
    const connections = new Connections(() => 8);
    const port = await busy(connections);
    await dialMany(port, of('grant'), 5);
    const [shared] = await dialMany(port, of('grant') + of(ownerHolder), 1);
    await dialMany(port, of('another grant'), 1);
    await dialMany(port, '', 20);
    expect(shared?.closed).toBe(false);
  });

  it('does not take an answer that is still on its way for the end of a call', async () => {
    const connections = new Connections(() => 4);
    const bytes = 50_000_000;
    const port = await listen(connections, ({ socket, url }, response) => {
      connections.trust(socket, 'grant');
      response.end(url === '/large' ? Buffer.alloc(bytes) : 'x');
    });
    const slow = await dial(port, 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(slow, 'readable');
    const others = await dialMany(port, good, 4);
    await Promise.all(others.slice(0, 2).map(isCut));
    let got = 0;
    for await (const chunk of slow) {
      got += (chunk as Buffer).length;
      if (got > bytes) break;
    }
    expect(got).toBeGreaterThan(bytes);
  });
});

describe('connectionsWithin', () => {
  it.each([
    [1024, 768],
    [256, 192],
    [128, 64],
    [40, 16],
    [20_000, 4096],
    [Number.POSITIVE_INFINITY, 4096],
  ])('%d descriptors leave room for %d connections', (descriptors, connections) => {
    expect(connectionsWithin(descriptors)).toBe(connections);
  });
});
