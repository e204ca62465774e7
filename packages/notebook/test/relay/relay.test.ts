// @module-tag P-218

/** The relay against whoever uses it from a sandbox: real servers and sockets; names are looked up as each test says. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isElsewhere } from '@notebridge/sandbox/relay/reach';
import { createRelay, type Relay, type RelayOptions } from '@notebridge/sandbox/relay/relay';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

let folder: string;
let server: Server;
let echo: TcpServer;
let port: number;
let echoPort: number;
const asked: IncomingMessage[] = [];
const bodies: string[] = [];
const sockets: Socket[] = [];

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-relay-')));
  server = createServer(async (request, response) => {
    asked.push(request);
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    if (request.url === '/elsewhere') return void response.writeHead(302, { location: 'http://127.0.0.1/' }).end();
    response
      .writeHead(200, { 'x-served': 'yes', 'keep-alive': 'timeout=99' })
      .end(`${request.method} ${request.url} ${request.headers.host}`);
  });
  echo = createTcpServer((socket) => socket.on('error', () => {}).pipe(socket));
  port = await listen(server);
  echoPort = await listen(echo);
});
afterAll(async () => {
  await Promise.all([server, echo].map((one) => new Promise((resolve) => one.close(resolve))));
  rmSync(folder, { recursive: true, force: true });
});

async function listen(one: Server | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  return (one.address() as AddressInfo).port;
}

let relay: Relay | undefined;
let path: string;
let lookups: string[];
beforeEach(() => {
  lookups = [];
  asked.length = 0;
  bodies.length = 0;
  path = join(folder, `relay-${Math.random()}`);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await relay?.close();
});

/** Without `mayConnect` it decides as it does for users. */
async function open(
  allow: readonly string[],
  addresses: readonly string[] | undefined,
  options: Partial<RelayOptions> = {},
): Promise<void> {
  const lookup = async (host: string) => {
    lookups.push(host);
    return addresses ?? ['127.0.0.1'];
  };
  relay = createRelay({ allow, seam: { lookup, ...(addresses ? {} : { mayConnect: (address) => address === '127.0.0.1' }) }, ...options });
  await relay.listen(path);
}

function dial(): Socket {
  const socket = connect(path);
  socket.on('error', () => {});
  sockets.push(socket);
  return socket;
}

/** What comes until `until` is in it, or until the end. */
function read(socket: Socket, until?: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk;
      if (until !== undefined && text.includes(until)) resolve(text);
    });
    socket.once('close', () => resolve(text));
  });
}

const say = async (text: string): Promise<string> => {
  const socket = dial();
  socket.write(text);
  return read(socket, undefined);
};
const get = (url: string, more = '') => say(`GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`);

describe('an allowed server', () => {
  test('is reached by a plain request, which names the server it is for and leaves out what was for the proxy', async () => {
    await open([`data.example.org:${port}`], undefined);
    const answer = await get(`http://data.example.org:${port}/a?b=c`, 'Proxy-Authorization: Basic x\r\nX-Kept: 1\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 200/);
    expect(answer).toContain(`GET /a?b=c data.example.org:${port}`);
    expect(answer).toContain('x-served: yes');
    expect(asked[0]?.headers).toMatchObject({ 'x-kept': '1' });
    expect(asked[0]?.headers['proxy-authorization']).toBeUndefined();
    expect(lookups).toEqual(['data.example.org']);
  });

  test('gets bodies, and its redirects are the client’s to follow', async () => {
    await open([`data.example.org:${port}`], undefined);
    await say(`POST http://data.example.org:${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody`);
    expect(bodies).toEqual(['body']);
    expect(await get(`http://data.example.org:${port}/elsewhere`)).toMatch(/^HTTP\/1.1 302/);
    expect(asked.length).toBe(2);
  });

  test('is reached by CONNECT, with bytes as they are', async () => {
    await open([`data.example.org:${echoPort}`], undefined);
    const socket = dial();
    socket.write(`CONNECT data.example.org:${echoPort} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(await read(socket, '\r\n\r\n')).toMatch(/^HTTP\/1.1 200/);
    socket.write('\0\x01raw');
    expect(await read(socket, 'raw')).toBe('\0\x01raw');
    socket.end();
    await new Promise((resolve) => socket.once('close', resolve));
  });
});

describe('nothing else is', () => {
  test.each(['other.example.org', 'data.example.org.evil.org', 'evil-data.example.org'])(
    '%s is refused, and not even looked up',
    async (host) => {
      await open(['data.example.org'], undefined);
      expect(await say(`CONNECT ${host}:443 HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(
        new RegExp(`^HTTP/1.1 403[^]*"${host}" is not one of.*--allow-net ${host}`),
      );
      expect(await get(`http://${host}/`)).toMatch(/^HTTP\/1.1 403/);
      expect(lookups).toEqual([]);
    },
  );

  test('another port is refused, with the option that would allow it', async () => {
    await open(['data.example.org'], undefined);
    expect(await say(`CONNECT data.example.org:${echoPort} HTTP/1.1\r\nHost: x\r\n\r\n`)).toContain(
      `--allow-net data.example.org:${echoPort}`,
    );
  });

  test.each([
    ['127.0.0.1'],
    ['10.1.2.3'],
    ['169.254.169.254'],
    ['100.100.100.200'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['fd00:ec2::254'],
    ['0.0.0.0'],
    ['8.8.8.8', '127.0.0.1'],
    ['not an address'],
  ])('an allowed name at %s %s is refused', async (...addresses) => {
    await open([`data.example.org:${port}`], addresses);
    expect(await say(`CONNECT data.example.org:${port} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 403[^]*no address of the public Internet/,
    );
    expect(await get(`http://data.example.org:${port}/`)).toMatch(/^HTTP\/1.1 403/);
    expect(asked).toEqual([]);
  });

  test.each(['127.0.0.1', '[::1]', '[::ffff:7f00:1]', '0.0.0.0'])('%s is refused also where it was allowed', async (host) => {
    await open([`${host}:${port}`], undefined, { seam: {} });
    expect(await say(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1.1 403/);
    expect(asked).toEqual([]);
  });

  test.each(['2130706433', '0x7f.1', '127.1', '017700000001'])('%s, which some take for loopback, is refused', async (host) => {
    await open([`${host}:${port}`, `data.example.org:${port}`], ['127.0.0.1']);
    expect(await say(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1.1 403/);
    expect(await get(`http://${host}:${port}/`)).toMatch(/^HTTP\/1.1 403/);
  });

  test('a machine of a network that this one is in is refused, though its address is public', { tags: ['P-242'] }, async () => {
    const [own] = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const interfaces = {
      eth0: [
        { ...own, address: '151.101.0.1', cidr: '151.101.0.1/24' },
        { ...own, address: '2a04:4e42::1', cidr: '2a04:4e42::1/64' },
      ],
    };
    const isOf = (address: string) => isElsewhere(address, interfaces as NodeJS.Dict<NetworkInterfaceInfo[]>);
    expect(['151.101.0.1', '151.101.0.223', '2a04:4e42::223'].map(isOf)).toEqual([false, false, false]);
    expect(['151.101.1.1', '2a04:4e42:1::1'].map(isOf)).toEqual([true, true]);
    expect(isElsewhere('127.0.0.1')).toBe(false);
  });

  test('the address that was looked up is the one that is connected to: an answer that changes helps nobody', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const connected: string[] = [];
    relay = createRelay({
      allow: [`data.example.org:${port}`],
      seam: {
        lookup: async () => answers.shift() ?? [],
        mayConnect: (address) => {
          connected.push(address);
          return address === '127.0.0.1';
        },
      },
    });
    await relay.listen(path);
    expect(await get(`http://data.example.org:${port}/`)).toMatch(/^HTTP\/1.1 200/);
    expect(await get(`http://data.example.org:${port}/`)).toMatch(/^HTTP\/1.1 403/);
    expect(connected).toEqual(['127.0.0.1', '127.0.0.2']);
    expect(await get(`http://data.example.org:${port}/`)).toMatch(/^HTTP\/1.1 502/);
  });

  test.each([
    ['a path alone', 'GET / HTTP/1.1\r\nHost: data.example.org\r\nConnection: close\r\n\r\n'],
    ['a name and a password', 'GET http://a:b@data.example.org/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['another scheme', 'GET ftp://data.example.org/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['CONNECT without a port', 'CONNECT data.example.org HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['CONNECT with a path', 'CONNECT data.example.org:80/x HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['CONNECT with a name before it', 'CONNECT a@data.example.org:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('%s is refused', async (_what, text) => {
    await open(['data.example.org'], undefined);
    expect(await say(text)).toMatch(/^HTTP\/1.1 400/);
  });

  test('a message that is no HTTP ends its connection alone', async () => {
    await open([`data.example.org:${port}`], undefined);
    await say('\0\0\0\0\r\n\r\n');
    await say(`GET http://data.example.org/${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`);
    expect(await get(`http://data.example.org:${port}/`)).toMatch(/^HTTP\/1.1 200/);
  });
});

test('connections are bounded, and all of them end with the relay', async () => {
  await open([`data.example.org:${echoPort}`], undefined, { maxConnections: 3 });
  const tunnel = async () => {
    const socket = dial();
    socket.write(`CONNECT data.example.org:${echoPort} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return { socket, answer: await read(socket, '\r\n\r\n') };
  };
  const held = await Promise.all([tunnel(), tunnel(), tunnel()]);
  expect(held.map(({ answer }) => answer.slice(0, 12))).toEqual(Array(3).fill('HTTP/1.1 200'));
  expect((await tunnel()).answer).toBe('');
  const ended = Promise.all(held.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve))));
  await relay?.close();
  await ended;
});

test('requests that come at once on one connection are bounded as well, also while names are looked up', { tags: ['P-242'] }, async () => {
  let lookUp = (_addresses: string[]): void => {};
  const addresses = new Promise<string[]>((resolve) => {
    lookUp = resolve;
  });
  const lookup = (host: string) => {
    lookups.push(host);
    return addresses;
  };
  await open([`data.example.org:${port}`], undefined, { maxConnections: 3, seam: { lookup, mayConnect: () => true } });
  const socket = dial();
  const request = `GET http://data.example.org:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`;
  socket.write(request.repeat(99) + request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  expect(await get(`http://data.example.org:${port}/`)).toMatch(/^HTTP\/1.1 503[^]*3 connections already/);
  expect(lookups.length).toBe(3);
  lookUp(['127.0.0.1']);
  await read(socket);
  expect(asked.length).toBe(3);
  // Places are given back.
  expect(await get(`http://data.example.org:${port}/`)).toMatch(/^HTTP\/1.1 200/);
});
