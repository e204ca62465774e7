// @module-tag P-185

import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from './support/folder.js';
import { startHost } from './support/hosts.js';
import { ann } from './support/stores.js';
import { until } from './support/until.js';
import { dial, openWindow, refusalOf, TestWindow } from './support/window.js';

describe('a socket', () => {
  it.each([
    ['no ticket', { ticket: undefined }, 401],
    ['a wrong ticket', { ticket: 'x'.repeat(43) }, 403],
    ['an empty ticket', { ticket: '' }, 403],
    ['two tickets', { ticket: 'a&ticket=b' }, 403],
    ['no origin', { origin: undefined }, 403],
    ['the origin null', { origin: 'null' }, 403],
    ['a foreign origin', { origin: 'https://evil.example' }, 403],
    ['an origin of another port of this machine', { origin: 'http://localhost:1' }, 403],
    ['no subprotocol', { protocols: [] }, 400],
    ['another subprotocol', { protocols: ['mcp'] }, 400],
    ['another path', { path: '/viewer/' }, 404],
    ['a rebound host', { headers: { host: 'evil.example' } }, 403],
    ['two Authorization headers', { headers: { authorization: ['Bearer a', 'Bearer b'] as unknown as string } }, 400],
  ])('a connection with %s is refused', { tags: ['P-120'] }, async (_, options, status) => {
    const host = await startHost();
    expect(await refusalOf(host.url, options)).toMatchObject({ status });
    expect(host.openWindows).toBe(0);
  });

  it('a connection of another loopback address of ours is let in, from that same address only', async () => {
    const host = await startHost();
    const { port } = host;
    expect(await refusalOf(host.url, { address: '127.0.0.1' })).toMatchObject({ status: 101 });
    expect(await refusalOf(host.url, { address: '[::1]' })).toMatchObject({ status: 101 });
    expect(await refusalOf(host.url, { address: '127.0.0.1', origin: `http://localhost:${port}` })).toMatchObject({ status: 403 });
  });

  it('a wrong ticket never learns the right one, and slows down nobody who has it', { tags: ['P-120'] }, async () => {
    const { url } = await startHost();
    // After so many the next one waits for as long as any does.
    const refusals = await Promise.all(Array.from({ length: 8 }, () => refusalOf(url, { ticket: 'wrong' })));
    expect(refusals.every(({ status, text }) => status === 403 && !text.includes(new URL(url).hash.slice(7)))).toBe(true);
    let isRefused = false;
    const guess = refusalOf(url, { ticket: 'wrong' }).then(() => {
      isRefused = true;
    });
    expect(await refusalOf(url)).toMatchObject({ status: 101 });
    expect(isRefused).toBe(false);
    await guess;
  });

  it('past the last window is refused, until one is closed', async () => {
    const host = await startHost({ windowLimits: { maxWindows: 2 } });
    const first = await openWindow(host.url);
    await openWindow(host.url);
    expect(await refusalOf(host.url)).toMatchObject({ status: 503, text: expect.stringContaining('Close one') });
    first.socket.close();
    await until(() => host.openWindows === 1);
    await openWindow(host.url);
  });
});

describe('a window that sends', () => {
  it.each([
    ['broken JSON', '{', 0],
    ['what is no object', '[1]', 0],
    ['no id', '{"type":"request","action":{"do":"save"}}', 0],
    ['another type', '{"type":"hello","id":3}', 3],
    ['no action', '{"type":"request","id":4}', 4],
    ['an unknown action', '{"type":"request","id":5,"action":{"do":"constructor"}}', 5],
    ['a wrong index', '{"type":"request","id":6,"action":{"do":"move","cellId":"a","index":-1}}', 6],
    ['a wrong type', '{"type":"request","id":7,"action":{"do":"insert","index":0,"cellType":"html","source":""}}', 7],
    ['a huge id of a cell', `{"type":"request","id":8,"action":{"do":"run","cellId":"${'a'.repeat(100_000)}"}}`, 8],
    ['a deep nest', `{"type":"request","id":9,"action":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 9],
  ])('a sender of %s is told so, and goes on', async (_, frame, id) => {
    const host = await startHost();
    const window = await openWindow(host.url);
    window.socket.send(frame);
    const failed = await until(() => window.of('failed')[0]);
    expect(failed).toMatchObject({ id, code: 'bad_request' });
    expect(failed.message.length).toBeLessThan(300);
    await window.ask({ do: 'insert', index: 0, cellType: 'code', source: '' });
  });

  it('bytes is told so', async () => {
    const window = await openWindow((await startHost()).url);
    window.socket.send(Buffer.from('{}'));
    expect(await until(() => window.of('failed')[0])).toMatchObject({ code: 'bad_request' });
  });

  it('a huge frame is closed, and the others are unharmed', async () => {
    const host = await startHost({ windowLimits: { maxMessageBytes: 100_000 } });
    const [bad, good] = [await openWindow(host.url), await openWindow(host.url)];
    bad.socket.send('x'.repeat(200_000));
    expect(await until(() => bad.closed)).toMatchObject({ code: 1009 });
    await good.ask({ do: 'insert', index: 0, cellType: 'code', source: 'fine' });
  });

  it('nothing but nonsense is closed', async () => {
    const window = await openWindow((await startHost()).url);
    for (let count = 0; count < 150; count++) window.socket.send('nonsense');
    expect(await until(() => window.closed)).toMatchObject({ code: 1008 });
  });

  it('a flood is read slowly, while others are served', { tags: ['deep'] }, async () => {
    const host = await startHost({ windowLimits: { requestsPerSecond: 100 } });
    const [flood, calm] = [await openWindow(host.url), await openWindow(host.url)];
    const { id } = host.session.document.insert(0, { type: 'code', source: '' }, { by: ann });
    const { version } = host.session.document;
    for (let count = 0; count < 5000; count++) {
      flood.socket.send(JSON.stringify({ type: 'request', id: count, action: { do: 'update', cellId: id, source: `${count}` } }));
    }
    await calm.ask({ do: 'insert', index: 0, cellType: 'code', source: 'calm' });
    // One frame may hold many messages that were read before the pause; all of them would be 5000.
    expect(host.session.document.version - version).toBeLessThan(4000);
    flood.socket.terminate();
  });
});

describe('a window that does not answer', () => {
  it('pings is dropped', { tags: ['deep'] }, async () => {
    const host = await startHost({ windowLimits: { pingMs: 250 } });
    const socket = await dial(host.url, { autoPong: false });
    const window = new TestWindow(socket);
    expect(await until(() => window.closed)).toMatchObject({ code: 1006 });
    await until(() => host.openWindows === 0);
  });

  it('pings lives on if it does answer', { tags: ['deep'] }, async () => {
    const host = await startHost({ windowLimits: { pingMs: 250 } });
    const window = await openWindow(host.url);
    let pings = 0;
    window.socket.on('ping', () => pings++);
    await until(() => pings > 2);
    expect(window.closed).toBeUndefined();
  });

  it('pings lives on if its answer could not be read, since this process stood still', { tags: ['deep'] }, async () => {
    const host = await startHost({ windowLimits: { pingMs: 250 } });
    const window = await openWindow(host.url);
    await once(window.socket, 'ping');
    const endMs = performance.now() + 750;
    while (performance.now() < endMs);
    await once(window.socket, 'ping');
    expect(window.closed).toBeUndefined();
  });

  it('a silent window is dropped, and no memory is kept for what it is sent', async () => {
    const host = await startHost({ windowLimits: { maxBufferedBytes: 1_000_000 } });
    const [slow, quick] = [new TestWindow(await dial(host.url)), await openWindow(host.url)];
    await until(() => host.openWindows === 2);
    slow.socket.pause();
    const { id } = host.session.document.insert(0, { type: 'raw', source: '' }, { by: ann });
    await until(() => {
      host.session.document.update(id, `${Math.random()}`.padEnd(500_000, 'x'), { by: ann });
      return host.openWindows === 1;
    });
    await until(() => quick.replica?.version === host.session.document.version);
    slow.socket.terminate();
  });
});

describe('plain HTTP', () => {
  async function startWithUi() {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'ui', 'chunks'), { recursive: true });
    await writeFile(join(folder, 'secret.js'), 'secret');
    await writeFile(join(folder, 'ui', 'index.html'), '<script nonce="__NONCE__" src="/app.js"></script>');
    await writeFile(join(folder, 'ui', 'app.js'), 'app');
    await writeFile(join(folder, 'ui', 'sandboxed.html'), '<html></html>');
    await writeFile(join(folder, 'ui', 'chunks', 'a.css'), 'css');
    await symlink(join(folder, 'secret.js'), join(folder, 'ui', 'link.js'));
    const host = await startHost({ uiFolder: join(folder, 'ui') });
    return { host, origin: new URL(host.url).origin, folder };
  }

  it('serves the UI, with everything forbidden that it does not need', { tags: ['P-120'] }, async () => {
    const { origin } = await startWithUi();
    const page = await fetch(`${origin}/`);
    const nonce = /nonce="([^"]{20,})"/.exec(await page.text())?.[1];
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(policy).toMatch(/connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'/);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-type': 'text/html; charset=utf-8',
    });
    const script = await fetch(`${origin}/app.js`);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const again = await fetch(`${origin}/app.js`, { headers: { 'if-none-match': script.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
    expect((await fetch(`${origin}/chunks/a.css`)).status).toBe(200);
    expect(await (await fetch(`${origin}/app.js`, { method: 'HEAD' })).text()).toBe('');
  });

  it('serves the page in which scripts of outputs run without origin and network', { tags: ['P-235'] }, async () => {
    const { origin } = await startWithUi();
    const page = await fetch(`${origin}/sandboxed.html`);
    expect(page.status).toBe(200);
    const directives = (page.headers.get('content-security-policy') ?? '').split('; ').map((directive) => directive.split(' '));
    const policy = Object.fromEntries(directives.map(([name = '', ...values]) => [name, values.sort()]));
    // No origin: no storage, nothing of the window. What is not named may not be loaded, `connect-src` and `frame-src` too.
    expect(policy).toMatchObject({
      sandbox: ['allow-scripts'],
      'default-src': ["'none'"],
      'form-action': ["'none'"],
      'worker-src': ["'none'"],
    });
    expect(Object.keys(policy)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(connect|frame|object|manifest)-src$/)]));
    expect(directives.flat().filter((value) => /:\/\/|\*|^https?:|'self'/.test(value))).toEqual(["'self'"]);
    expect(policy['frame-ancestors']).toEqual(["'self'"]);
  });

  it('gives a new nonce each time', async () => {
    const { origin } = await startWithUi();
    const pages = await Promise.all([fetch(`${origin}/`), fetch(`${origin}/index.html`)]);
    const [one, two] = pages.map((page) => page.headers.get('content-security-policy'));
    expect(one).not.toBe(two);
  });

  it.each([
    ['../secret.js'],
    ['%2e%2e/secret.js'],
    ['..%2fsecret.js'],
    ['link.js'],
    ['chunks'],
    ['./app.js'],
    ['/app.js'],
    ['app.js%00'],
    ['__proto__'],
  ])('does not serve /%s', async (path) => {
    const { host } = await startWithUi();
    expect(await rawStatus(host.port, `GET /${path} HTTP/1.1\r\nHost: localhost:${host.port}\r\nConnection: close\r\n\r\n`)).toBe(404);
  });

  it('refuses foreign hosts, other sites, and everything but reading', { tags: ['P-115'] }, async () => {
    const { host, origin } = await startWithUi();
    expect(await rawStatus(host.port, 'GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')).toBe(403);
    const twice = `GET / HTTP/1.1\r\nHost: localhost:${host.port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`;
    expect(await rawStatus(host.port, twice)).toBe(400);
    expect(await rawStatus(host.port, twice.replace(/Host: evil.example/, 'Authorization: a\r\nAuthorization: b'))).toBe(400);
    expect((await fetch(`${origin}/app.js`, { method: 'POST', body: 'x' })).status).toBe(405);
    const status = await new Promise((resolve, reject) => {
      request(`${origin}/app.js`, { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' } }, ({ statusCode }) =>
        resolve(statusCode),
      )
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  it('says what to do when the UI is not built', async () => {
    const host = await startHost({ uiFolder: join(await temporaryFolder(), 'none') });
    const answer = await fetch(new URL('/', host.url));
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('npm run build');
  });
});

/** The status that the server answers to exactly these bytes. */
function rawStatus(port: number, bytes: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    connect(port, '127.0.0.1', function onConnect(this: unknown) {})
      .on('connect', function send(this: import('node:net').Socket) {
        this.write(bytes);
      })
      .on('data', (chunk) => {
        text += chunk;
      })
      .on('close', () => resolve(Number(text.split(' ')[1])))
      .on('error', reject);
  });
}
