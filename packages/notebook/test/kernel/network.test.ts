// @module-tag deep
// @module-tag P-262

/** What code in Pyodide fetches goes through the host: real servers, whose names are looked up as each test says. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KernelHarness } from './support/kernel-harness.js';
import { openNodeHarness } from './support/node-harness.js';
import { plain, runCell } from './support/run-cell.js';

const startMs = 60_000;
let server: Server;
let tlsServer: Server;
let port: number;
let tlsPort: number;
let harness: KernelHarness;
const asked: { request: IncomingMessage; body: string }[] = [];
const lookups: string[] = [];

/** By name; all else is at the test's own servers. */
const addresses: { [host: string]: string[] } = {
  'inward.example': ['10.0.0.1'],
  'half.example': ['127.0.0.1', '169.254.169.254'],
  'none.example': [],
};

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  request.setEncoding('latin1');
  for await (const chunk of request) body += chunk;
  asked.push({ request, body });
  const path = request.url ?? '';
  const to = (location: string) => response.writeHead(Number(/\d+$/.exec(path)?.[0] ?? 302), { location }).end('elsewhere');
  if (path.startsWith('/to-other')) return void to(`http://other.example:${port}/`);
  if (path.startsWith('/to-inward')) return void to(`http://inward.example:${port}/`);
  if (path.startsWith('/to-loopback')) return void to(`http://127.0.0.1:${port}/`);
  if (path.startsWith('/to-file')) return void to('file:///etc/passwd');
  if (path.startsWith('/to-second')) return void to(`http://second.example:${port}/there`);
  if (path.startsWith('/to-here')) return void to('/here');
  if (path.startsWith('/to-plain')) return void to(`http://api.example:${port}/`);
  if (path.startsWith('/round')) return void to('/round');
  if (path === '/404') return void response.writeHead(404).end('not here');
  if (path === '/never') return;
  if (path === '/upgrade') return void response.writeHead(101, { connection: 'upgrade', upgrade: 'other' }).end();
  if (path === '/cut') {
    response.writeHead(200, { 'content-length': '1000' }).write('abc', () => response.destroy());
    return;
  }
  if (path === '/large') {
    response.writeHead(200);
    for (let n = 0; n < 20; n++) if (!response.write(Buffer.alloc(1_000_000, n))) await new Promise((on) => response.once('drain', on));
    return void response.end();
  }
  if (path === '/endless') {
    response.writeHead(200);
    while (!response.destroyed)
      if (!response.write(Buffer.alloc(1_000_000))) await new Promise((on) => response.once('drain', on).once('close', on));
    return;
  }
  response
    .writeHead(200, { 'content-type': 'text/plain', 'x-served': 'yes', 'set-cookie': ['a=1', 'b=2'] })
    .end(`${request.method} ${path}`);
}

const listen = async (one: Server): Promise<number> => {
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  return (one.address() as AddressInfo).port;
};

beforeAll(async () => {
  const pems = await generate([{ name: 'commonName', value: 'api.example' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'api.example' }] }],
  });
  server = createServer((request, response) => void answer(request, response));
  tlsServer = createTlsServer({ key: pems.private, cert: pems.cert }, (request, response) => void answer(request, response));
  port = await listen(server);
  tlsPort = await listen(tlsServer);
  const allowNet = ['api', 'second', 'inward', 'half', 'none'].map((name) => `${name}.example:${port}`);
  harness = await openNodeHarness({
    allowNet: [...allowNet, `api.example:${tlsPort}`, `second.example:${tlsPort}`],
    relaySeam: {
      lookup: async (host) => {
        lookups.push(host);
        return addresses[host] ?? ['127.0.0.1'];
      },
      mayConnect: (address) => address === '127.0.0.1',
      ca: pems.cert,
    },
  });
  await harness.kernel.start();
}, startMs);
afterEach(() => {
  asked.length = 0;
  lookups.length = 0;
});
afterAll(async () => {
  await harness?.close();
  for (const one of [server, tlsServer]) {
    one?.closeAllConnections();
    await new Promise((resolve) => one?.close(resolve));
  }
});

const at = (path: string) => JSON.stringify(`http://api.example:${port}${path}`);
const run = (...lines: string[]) =>
  runCell(harness, ['import json, urllib.request, urllib.error', 'from pyodide.http import pyfetch', ...lines].join('\n'));
/** The connection of a request, by whoever ends it. */
const closed = async (index: number): Promise<void> => {
  const socket = asked[index]?.request.socket;
  if (socket && !socket.destroyed) await new Promise((resolve) => socket.once('close', resolve));
};
/** What the two ways of code say of the same address. */
const failures = async (url: string): Promise<string[]> => {
  const all = await Promise.all([run(`await pyfetch(${url})`), run(`urllib.request.urlopen(${url})`)]);
  return all.map(({ error }) => plain(`${error?.ename}: ${error?.evalue}`));
};

describe('code fetches', () => {
  test('a server that is allowed is reached by awaiting and by blocking', async () => {
    const { stdout, error } = await run(
      `r = await pyfetch(${at('/a?b=1')})`,
      'print(r.status, await r.text(), r.headers["x-served"])',
      `with urllib.request.urlopen(${at('/b')}) as r: print(r.status, r.read(5), r.read(), r.headers.get_all("set-cookie"), r.url)`,
    );
    expect(error?.traceback).toBeUndefined();
    expect(stdout).toBe(`200 GET /a?b=1 yes\n200 b'GET /' b'b' ['a=1', 'b=2'] http://api.example:${port}/b\n`);
    expect(new Set(lookups)).toEqual(new Set(['api.example']));
  });

  test('a request has method, headers and body as they were given, but for those of the connection', async () => {
    const headers = '{"X-Mine": "1", "Host": "evil.example", "Connection": "upgrade", "Transfer-Encoding": "chunked"}';
    await run(
      `await pyfetch(${at('/')}, method="PUT", headers=${headers}, body=bytes(range(256)))`,
      `urllib.request.urlopen(urllib.request.Request(${at('/')}, data=b"abc", headers=${headers}))`,
    );
    expect(asked.map(({ request, body }) => [request.method, body.length, request.headers['x-mine'], request.headers.host])).toEqual([
      ['PUT', 256, '1', `api.example:${port}`],
      ['POST', 3, '1', `api.example:${port}`],
    ]);
    expect(asked[0]?.body).toBe(Buffer.from(Array.from({ length: 256 }, (_, n) => n)).toString('latin1'));
    for (const { request } of asked) expect(request.headers).toMatchObject({ connection: 'close', 'accept-encoding': 'identity' });
  });

  test('a server over TLS is reached where the certificate is that of the name', async () => {
    const { result } = await run(
      `await (await pyfetch("https://api.example:${tlsPort}/s")).text(), urllib.request.urlopen("https://api.example:${tlsPort}/t").read()`,
    );
    expect(result).toBe("('GET /s', b'GET /t')");
    for (const said of await failures(`"https://second.example:${tlsPort}/"`)) expect(said).toMatch(/did not answer.*altnames/i);
    const led = await run(`await pyfetch("https://api.example:${tlsPort}/to-plain")`);
    expect(led.error?.evalue).toMatch(/not encrypted/);
  });

  test('twenty megabytes, whole; a hundred at once, in turns', async () => {
    const { result } = await run(
      'import asyncio, hashlib',
      `a = urllib.request.urlopen(${at('/large')}).read()`,
      `b = await (await pyfetch(${at('/large')})).bytes()`,
      `many = await asyncio.gather(*[pyfetch(f"http://api.example:${port}/{n}") for n in range(100)])`,
      'len(a), a == b, {r.status for r in many}',
    );
    expect(result).toBe('(20000000, True, {200})');
  });

  test('errors of the server as such, and what breaks off as an error', async () => {
    expect((await run(`urllib.request.urlopen(${at('/404')})`)).error).toMatchObject({
      ename: 'HTTPError',
      evalue: 'HTTP Error 404: Not Found',
    });
    expect((await run(`r = await pyfetch(${at('/404')})`, 'r.status, await r.text()')).result).toBe("(404, 'not here')");
    expect((await run(`urllib.request.urlopen(${at('/cut')}).read()`)).error?.evalue).toMatch(/broke off/);
    expect((await run(`await pyfetch(${at('/cut')})`)).error?.evalue).toMatch(/broke off/);
    for (const said of await failures(at('/upgrade'))) expect(said).toMatch(/did not answer/);
    expect((await run(`urllib.request.urlopen(${at('/never')}, timeout=0.3)`)).error).toMatchObject({ ename: 'TimeoutError' });
  });

  test('a fetch lasts only as long as the code wants', async () => {
    const running = run(`urllib.request.urlopen(${at('/never')})`);
    await expect.poll(() => asked.length).toBe(1);
    await harness.kernel.interrupt();
    expect(await running).toMatchObject({ status: 'interrupted', error: { ename: 'KeyboardInterrupt' } });
    await closed(0);
    const awaiting = run(`await pyfetch(${at('/endless')})`);
    await expect.poll(() => asked.length).toBe(2);
    await harness.kernel.interrupt();
    expect(await awaiting).toMatchObject({ status: 'interrupted' });
    await closed(1);
  });
});

describe('code is refused', () => {
  test('servers that are not allowed, without a look-up, and with the option that would allow them', async () => {
    for (const said of await failures('"https://pypi.org/simple/"'))
      expect(said).toMatch(/"pypi\.org" is not one of the servers.*--allow-net pypi\.org/);
    for (const said of await failures(`"http://api.example:1/"`)) expect(said).toMatch(/--allow-net api\.example:1/);
    expect(lookups).toEqual([]);
  });

  test('addresses inside, of a name that is allowed and as such', async () => {
    for (const said of await failures(`"http://inward.example:${port}/"`)) expect(said).toMatch(/at 10\.0\.0\.1.*code never reaches those/);
    for (const said of await failures(`"http://half.example:${port}/"`)) expect(said).toMatch(/at 169\.254\.169\.254/);
    for (const said of await failures(`"http://none.example:${port}/"`)) expect(said).toMatch(/no address of/);
    for (const host of ['169.254.169.254', '[::1]', '2130706434', '0x7f000002', '[::ffff:10.0.0.1]'])
      for (const said of await failures(`"http://${host}:${port}/"`)) expect(said, host).toMatch(/code never reaches those/);
    expect(asked).toEqual([]);
  });

  test.each(['/to-other', '/to-inward', '/to-file'])('a server that leads on by %s', async (path) => {
    for (const status of [301, 302, 303, 307, 308])
      for (const said of await failures(at(`${path}-${status}`)))
        expect(said).toMatch(/other\.example|10\.0\.0\.1|no address of http|not allowed|HTTP Error 30/);
    expect(asked.every(({ request }) => request.url?.startsWith(path))).toBe(true);
  });

  test('a circle of redirects', async () => {
    for (const said of await failures(at('/round'))) expect(said).toMatch(/more than 20 times|infinite loop/);
    expect(asked.length).toBeLessThan(40);
  });

  test('a call that is no request is refused', async () => {
    for (const url of ['"ftp://api.example/"', '"no url"', `"http://user:secret@api.example:${port}/"`])
      expect((await run(`await pyfetch(${url})`)).error?.evalue, url).toMatch(/no address of http|are not sent/);
    for (const extra of ['method="TRACE"', 'method="CONNECT"', 'headers={"X-A": "1\\r\\nHost: evil"}', 'headers={"a b": "1"}'])
      expect((await run(`await pyfetch(${at('/')}, ${extra})`)).error, extra).toBeDefined();
    expect(asked).toEqual([]);
  });

  test('sockets', async () => {
    expect((await run('import socket', `socket.create_connection(("127.0.0.1", ${port}), 2)`)).error?.ename).toBe('OSError');
  });
});

test('a redirect that is allowed takes neither password nor cookie along, and no body where it says "see other"', async () => {
  const headers = '{"Authorization": "secret", "Cookie": "c=1", "X-Mine": "1"}';
  const { result } = await run(
    `r = await pyfetch(${at('/to-second-303')}, method="POST", headers=${headers}, body="abc")`,
    `s = await pyfetch(${at('/to-here-307')}, method="POST", headers=${headers}, body="abc")`,
    'r.url, await r.text(), await s.text()',
  );
  expect(result).toBe(`('http://second.example:${port}/there', 'GET /there', 'POST /here')`);
  const [, there, , here] = asked;
  expect(there?.request.headers).toMatchObject({ host: `second.example:${port}`, 'x-mine': '1' });
  expect(there?.request.headers).not.toHaveProperty('authorization');
  expect(there?.request.headers).not.toHaveProperty('cookie');
  expect(here?.request.headers).toMatchObject({ authorization: 'secret', cookie: 'c=1' });
  expect([there?.body, here?.body]).toEqual(['', 'abc']);
});
