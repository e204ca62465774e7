import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { isOwnPeer, userOfPeer } from './peer-user.js';

const nobody = 65_534;
const opened: { server: Server; sockets: Socket[] }[] = [];
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  }
  for (const { server, sockets } of opened.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(host: string): Promise<{ port: number; next: () => Promise<Socket> }> {
  const server = createServer();
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket.on('error', () => {})));
  opened.push({ server, sockets });
  server.listen(0, host);
  await once(server, 'listening');
  const next = async (): Promise<Socket> => ((await once(server, 'connection')) as [Socket])[0];
  return { port: (server.address() as AddressInfo).port, next };
}

/** Connects as another user, and does what the code says with its `socket`. */
function dialAs(uid: number, { host, port, code = '' }: { host: string; port: number; code?: string }): ChildProcess {
  const program = `const socket = require('node:net').connect(${port}, '${host}'); socket.on('error', () => {}); ${code}`;
  const child = spawn(process.execPath, ['-e', program], { uid, gid: uid, stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' });
  children.push(child);
  return child;
}

describe.skipIf(process.platform !== 'linux')('the user at the other end of a connection (Linux)', { tags: ['P-645'] }, () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    // A program may reach an IPv4 port by an IPv6 socket, and the other way round.
    ['127.0.0.1', '::ffff:127.0.0.1'],
    ['::', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.2'],
  ])('is found at %s, dialled by %s', async (at, host) => {
    const { port, next } = await listen(at);
    const met = next();
    const dialling = connect(port, host);
    opened[0]?.sockets.push(dialling);
    const socket = await met;
    expect(await userOfPeer(socket)).toBe(process.geteuid?.());
    expect(await isOwnPeer(socket)).toBe(true);
  });

  describe.skipIf(process.geteuid?.() !== 0)('another user (as root)', () => {
    it.each([
      ['127.0.0.1', '127.0.0.1'],
      ['::1', '::1'],
      ['127.0.0.1', '::ffff:127.0.0.1'],
    ])('is found at %s, dialled by %s', async (at, host) => {
      const { port, next } = await listen(at);
      const met = next();
      dialAs(nobody, { host, port });
      const socket = await met;
      expect([await userOfPeer(socket), await isOwnPeer(socket)]).toEqual([nobody, false]);
    });

    it('is not taken for root once it has closed its end, which no user has then', async () => {
      const { port, next } = await listen('127.0.0.1');
      const met = next();
      const child = dialAs(nobody, { host: '127.0.0.1', port, code: `socket.on('connect', () => socket.end(() => console.log('ended')))` });
      await once(child.stdout as NodeJS.ReadableStream, 'data');
      const socket = await met;
      child.kill('SIGKILL');
      await once(child, 'close');
      expect(await isOwnPeer(socket)).toBe(false);
    });
  });

  it('is not known of a connection that has ended', async () => {
    const { port, next } = await listen('127.0.0.1');
    const met = next();
    const dialling = connect(port, '127.0.0.1');
    const socket = await met;
    dialling.destroy();
    socket.destroy();
    expect(await userOfPeer(socket)).toBe('elsewhere');
  });

  it('is found for as many as dial at once', async () => {
    const { port, next } = await listen('127.0.0.1');
    const sockets: Socket[] = [];
    for (let count = 0; count < 500; count++) {
      const met = next();
      opened[0]?.sockets.push(connect(port, '127.0.0.1'));
      sockets.push(await met);
    }
    const before = process.cpuUsage();
    expect((await Promise.all(sockets.map(isOwnPeer))).filter(Boolean)).toHaveLength(500);
    const { user, system } = process.cpuUsage(before);
    // One by one each would cost a millisecond and more.
    expect((user + system) / 1000).toBeLessThan(500);
  });
});
