// @module-tag P-185

import { createServer } from 'node:net';
import { describePortOwner } from '@notebridge/system/processes/port-owner';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHttpApp } from '../../src/doors/http/http-app.js';
import { listenHttp } from '../../src/doors/http/listen.js';
import { type RawRequest, rawRequest } from '../support/raw-http.js';
import { jsonHeaders, jsonOf, type OpenToolProxy, openToolProxy } from '../support/tool-proxy.js';

const callPath = '/api/v1/mcp/proxy/github/tools/hello';
const body = '{"arguments":{}}';
const page = 'https://page.example';

let open: OpenToolProxy;
beforeAll(async () => {
  open = await openToolProxy({ http: { maxBodyBytes: 1000, allowHosts: ['box.example'] } });
});
afterAll(() => open.close());

const post = (request: RawRequest = {}) =>
  rawRequest(open.listener.port, { method: 'POST', target: callPath, body, ...request, headers: { ...jsonHeaders, ...request.headers } });
const port = () => open.listener.port;

// Routes with and without a body.
const routes: [string, RawRequest][] = [
  ['a call', { method: 'POST', target: callPath, body, headers: jsonHeaders }],
  ['the list', { target: '/api/v1/mcp/proxy/servers', headers: { authorization: jsonHeaders.authorization } }],
  ['the health', { target: '/healthz' }],
];

describe.each(routes)('%s', (_, request) => {
  const send = (headers: RawRequest['headers'], more: RawRequest = {}) =>
    rawRequest(port(), { ...request, ...more, headers: { ...request.headers, ...headers } });

  it.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST', 'box.example'])('is answered under the name %s with our port', async (name) => {
    expect((await send({ host: `${name}:${port()}` })).status).toBe(200);
  });

  it.each(['evil.example', 'localhost', 'localhost:1', '127.0.0.1.evil.example', 'localhost.:80', '0.0.0.0', ''])(
    'is refused under the Host %j (DNS rebinding)',
    { tags: ['P-115'] },
    async (host) => {
      expect((await send({ host })).status).toBe(403);
    },
  );

  it.each([
    ['Host', ['127.0.0.1', 'evil.example']],
    ['HOST', ['evil.example', '127.0.0.1']],
    ['authorization', ['Bearer good', 'Bearer other']],
    ['Authorization', ['Bearer other', 'Bearer good']],
    ['authorization', ['Bearer good', 'Bearer good']],
    ['authorization', ['Bearer good', '']],
    ['authorization', ['', '']],
  ])('is refused with %s twice: %j', async (name, values) => {
    const usual = { [name.toLowerCase()]: undefined };
    const reply = await send({ ...usual, [name]: values.map((value) => (value === '127.0.0.1' ? `${value}:${port()}` : value)) });
    expect([reply.status, reply.body]).toEqual([400, expect.stringContaining('twice')]);
  });

  it('is refused with a length that can be read in two ways', async () => {
    expect((await send({ 'content-length': ['16', '0'], 'content-type': 'application/json' }, { body })).status).toBe(400);
    expect((await send({ 'content-length': '16', 'transfer-encoding': 'chunked' }, { body: '0\r\n\r\n' })).status).toBe(400);
    expect((await send({ 'content-length': undefined, 'transfer-encoding': 'chunked, identity' }, { body })).status).toBe(400);
  });

  it('is refused with a second token behind 3,000 other headers', async () => {
    const many = { a: Array.from({ length: 3000 }, () => '') };
    expect((await send({ ...many, authorization: ['Bearer good', 'Bearer other'] })).status).toBe(400);
  });

  it('is refused without a Host', async () => {
    expect((await send({ host: undefined })).status).toBe(400);
  });

  it.each(['https://evil.example', 'null', 'http://localhost:3000', 'http://127.0.0.1'])(
    'is refused to a page of %s',
    { tags: ['P-115'] },
    async (origin) => {
      const reply = await send({ origin });
      expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    },
  );

  it.each(['localhost', '127.0.0.1', '[::1]', 'box.example'])(
    'is answered to our own page, under the name %s',
    { tags: ['P-358'] },
    async (name) => {
      const host = `${name}:${port()}`;
      const own = { host, origin: `http://${host}` };
      expect((await send(own)).status).toBe(200);
      expect((await send({ ...own, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
      // No other site may read it, and none is told that it may.
      expect((await send(own)).headers['access-control-allow-origin']).toBeUndefined();
      for (const site of ['cross-site', 'same-site', 'nonsense']) expect((await send({ ...own, 'sec-fetch-site': site })).status).toBe(403);
    },
  );

  it.each<[string, (port: number) => string]>([
    ['of another name of ours', (at) => `http://localhost:${at}`],
    ['of another port', (at) => `http://127.0.0.1:${at + 1}`],
    ['of no port', () => 'http://127.0.0.1'],
    ['of another scheme', (at) => `https://127.0.0.1:${at}`],
    ['with a path', (at) => `http://127.0.0.1:${at}/`],
    ['that only begins like it', (at) => `http://127.0.0.1:${at}.evil.example`],
  ])('is refused to a page %s', { tags: ['P-358'] }, async (_, originAt) => {
    expect((await send({ origin: originAt(port()) })).status).toBe(403);
  });

  it('is refused to a page whose own name is pointed at us (DNS rebinding)', { tags: ['P-358'] }, async () => {
    const host = `evil.example:${port()}`;
    expect((await send({ host, origin: `http://${host}` })).status).toBe(403);
  });

  it.each(['cross-site', 'same-site', 'same-origin, cross-site', 'nonsense'])(
    'is refused to a browser that says Sec-Fetch-Site: %s',
    async (site) => {
      expect((await send({ 'sec-fetch-site': site })).status).toBe(403);
    },
  );

  it.each(['none', 'same-origin'])('is answered to a browser that says Sec-Fetch-Site: %s', async (site) => {
    expect((await send({ 'sec-fetch-site': site })).status).toBe(200);
  });

  it('has security headers, and no CORS', async () => {
    const { headers } = await send({});
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('gives back the id of the request, if it is fit for a log', async () => {
    expect((await send({ 'x-request-id': 'my-id.1' })).headers['x-request-id']).toBe('my-id.1');
    for (const id of ['with space', 'x'.repeat(129), 'é', 'a"b'])
      expect((await send({ 'x-request-id': id })).headers['x-request-id']).toMatch(/^[\w-]{8,}$/);
  });

  it('is not served to a proxy’s absolute address', async () => {
    const { status } = await send({}, { target: `http://localhost:${port()}${request.target}` });
    expect(status).toBe(400);
  });
});

describe('a call is refused', { tags: ['P-073'] }, () => {
  it('no call is made without a token, and a hint is given', async () => {
    const reply = await post({ headers: { authorization: undefined } });
    expect(reply).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer realm="notebridge"' } });
    expect(JSON.parse(reply.body)).toMatchObject({ detail: expect.any(String), error_code: 'bad_grant' });
  });

  it('no call is made with a wrong token', async () => {
    const reply = await post({ headers: { authorization: 'Bearer wrong' } });
    expect(reply).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer realm="notebridge", error="invalid_token"' } });
  });

  it('no call is made with a token of another door', async () => {
    expect(await post({ headers: { authorization: 'Bearer of-an-agent' } })).toMatchObject({ status: 403 });
  });

  it.each([undefined, 'text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'no call is made with Content-Type %s',
    async (type) => {
      expect((await post({ headers: { 'content-type': type } })).status).toBe(415);
    },
  );

  it('no call is made with a compressed body', async () => {
    expect((await post({ headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
  });

  it.each(['', '{', '{"arguments":{}', 'nonsense', '\uFEFF{}', '{"arguments":{}}x', Buffer.from([0x22, 0xff, 0x22])])(
    'no call is made with a body that is not JSON: %j',
    async (text) => {
      const reply = await post({ body: text, headers: { 'content-length': String(Buffer.byteLength(text)) } });
      expect(reply.status).toBe(400);
      expect(JSON.parse(reply.body)).toEqual({
        detail: expect.any(String),
        ...(reply.body.includes('error_code') ? { error_code: 'bad_json' } : {}),
      });
    },
  );

  it.each([
    ['{}', { type: 'missing', loc: ['body', 'arguments'], msg: 'Field required', input: {} }],
    ['{"arguments":null}', { type: 'dict_type', loc: ['body', 'arguments'], msg: 'Input should be a valid dictionary', input: null }],
    ['{"arguments":[1]}', { type: 'dict_type', loc: ['body', 'arguments'], msg: 'Input should be a valid dictionary', input: [1] }],
    [
      '{"arguments":1e400}',
      { type: 'dict_type', loc: ['body', 'arguments'], msg: 'Input should be a valid dictionary', input: expect.anything() },
    ],
    ['[]', { type: 'model_attributes_type', loc: ['body'], msg: expect.any(String), input: [] }],
    ['7', { type: 'model_attributes_type', loc: ['body'], msg: expect.any(String), input: 7 }],
  ])('no call is made with the body %s, which is refused in the form of the reference', async (text, fault) => {
    const reply = await post({ body: text });
    expect([reply.status, JSON.parse(reply.body)]).toEqual([422, { detail: [fault] }]);
  });

  it('no call is made with a body over the limit, whether it says so or not', { tags: ['P-139'] }, async () => {
    const large = JSON.stringify({ arguments: { text: 'x'.repeat(1000) } });
    expect((await post({ body: large })).status).toBe(413);
    const chunked = `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    expect((await post({ body: chunked, headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' } })).status).toBe(413);
  });

  it('no call is made when as many run as may', async () => {
    await using busy = await openToolProxy({ limits: { maxInFlight: 1 } });
    const first = busy.call('wait');
    await busy.test.waiting();
    const second = await busy.call('hello');
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
    busy.test.release();
    expect(await jsonOf(first)).toMatchObject({ success: true });
    expect((await busy.call('hello')).status).toBe(200);
  });

  it('slowly to who guesses tokens, and at once never to the holder of the right one', { tags: ['P-118'] }, async () => {
    await using guessed = await openToolProxy();
    const order: string[] = [];
    const guess = (): Promise<unknown> => guessed.call('hello', {}, { headers: { authorization: 'Bearer wrong' } });
    // The next ones wait for as long as any does.
    await Promise.all(Array.from({ length: 8 }, guess));
    const guesses = Array.from({ length: 3 }, () => guess().then(() => order.push('guess')));
    await guessed.call('hello').then(() => order.push('right'));
    await Promise.all(guesses);
    expect(order).toEqual(['right', 'guess', 'guess', 'guess']);
  });
});

describe('a page that was allowed', () => {
  let allowing: OpenToolProxy;
  beforeEach(async () => {
    allowing = await openToolProxy({ http: { allowOrigins: [page] } });
  });
  afterEach(() => allowing.close());
  const send = (request: RawRequest) => rawRequest(allowing.listener.port, request);

  it('may call and read the answer, also a refusal', async () => {
    const headers = { ...jsonHeaders, origin: page, 'sec-fetch-site': 'cross-site' };
    const reply = await send({ method: 'POST', target: callPath, body, headers });
    expect(reply).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': page, vary: 'origin' } });
    const refused = await send({ method: 'POST', target: callPath, body, headers: { ...headers, authorization: undefined } });
    expect(refused).toMatchObject({ status: 401, headers: { 'access-control-allow-origin': page } });
    const listed = await send({ target: '/api/v1/mcp/proxy/servers', headers });
    expect(listed).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': page } });
  });

  it('has its preflight answered, without a token', async () => {
    const headers = {
      origin: page,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    };
    expect(await send({ method: 'OPTIONS', target: callPath, headers })).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': page,
        'access-control-allow-methods': 'OPTIONS, POST',
        'access-control-allow-headers': expect.stringContaining('authorization'),
      },
    });
  });

  it.each([`${page}.evil.example`, `${page}:8080`, 'https://page', `${page}/`, page.toUpperCase(), `${page}, https://evil.example`])(
    'is not another one: %s',
    async (origin) => {
      expect(
        (await send({ method: 'OPTIONS', target: callPath, headers: { origin, 'access-control-request-method': 'POST' } })).status,
      ).toBe(403);
      expect((await send({ method: 'POST', target: callPath, body, headers: { ...jsonHeaders, origin } })).status).toBe(403);
    },
  );
});

describe('what is not there', () => {
  it.each([
    '/',
    '/nothing',
    '/api/v1/mcp/proxy',
    '/api/v1/mcp/proxy/a/b/c',
    '/api/v1/mcp/proxy//x',
    '/api/v1/mcp/proxy/a/tools/',
    '/docsx',
    '/../docs',
  ])('is 404 at %s, and says what there is', async (target) => {
    const reply = await rawRequest(port(), { method: 'POST', target, body, headers: jsonHeaders });
    expect(reply.status).toBe(404);
    expect(JSON.parse(reply.body).detail).toContain('/api/v1/mcp/proxy/:server/tools/:tool');
  });

  it.each([
    ['GET', callPath, 'OPTIONS, POST'],
    ['HEAD', callPath, 'OPTIONS, POST'],
    ['DELETE', callPath, 'OPTIONS, POST'],
    ['PUT', '/api/v1/mcp/proxy/servers', 'GET, HEAD, OPTIONS'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
  ])('is 405 for %s %s', async (method, target, allow) => {
    expect(await rawRequest(port(), { method, target, headers: jsonHeaders })).toMatchObject({ status: 405, headers: { allow } });
  });

  it('is 400 for a path that is wrongly encoded', async () => {
    for (const target of ['/api/v1/mcp/proxy/%zz/tools/x', '/api/v1/mcp/proxy/a/%', '/%ff']) {
      const reply = await rawRequest(port(), { method: 'POST', target, body, headers: jsonHeaders });
      expect([reply.status, Object.keys(JSON.parse(reply.body))]).toEqual([400, ['detail']]);
    }
  });

  it('has HEAD for what can be read, and OPTIONS for everything', async () => {
    expect(await rawRequest(port(), { method: 'HEAD', target: '/healthz' })).toMatchObject({ status: 200, body: '' });
    expect(await rawRequest(port(), { method: 'OPTIONS', target: callPath })).toMatchObject({
      status: 204,
      headers: { allow: 'OPTIONS, POST' },
    });
    expect(await rawRequest(port(), { method: 'OPTIONS', target: '/nothing' })).toMatchObject({ status: 404 });
  });
});

describe('the port', () => {
  it('is the same on both loopback addresses', async () => {
    expect((await fetch(`http://[::1]:${port()}/healthz`)).status).toBe(200);
  });

  it('is refused with the name of who holds it', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port: taken } = holder.address() as { port: number };
    for (const host of [undefined, '127.0.0.1'])
      await expect(listenHttp(createHttpApp(), { port: taken, host, describePortOwner })).rejects.toMatchObject({
        code: 'port_in_use',
        message: expect.stringContaining(`pid ${process.pid}`),
      });
    await new Promise((resolve) => holder.close(resolve));
  });

  it('may be on one address only', async () => {
    await using only = await openToolProxy({ listen: { host: '127.0.0.1' } });
    expect((await fetch(`${only.origin}/healthz`)).status).toBe(200);
    await expect(fetch(`http://[::1]:${only.listener.port}/healthz`)).rejects.toThrow();
  });

  it('is no address of this machine: refused as well', async () => {
    await expect(listenHttp(createHttpApp(), { port: 0, host: '192.0.2.1' })).rejects.toMatchObject({ code: 'port_in_use' });
  });
});
