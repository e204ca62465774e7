import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { exchange, parseReply, type RawRequest, rawRequest, requestBytes, untilClosed } from '../support/raw-http.js';
import { jsonHeaders, type OpenToolProxy, openToolProxy } from '../support/tool-proxy.js';

/** What callers offer or expect beside their request, which a server may pass over. */

let open: OpenToolProxy;
beforeEach(async () => {
  open = await openToolProxy({ listen: { onUpgrade: (_, socket) => void socket.end('HTTP/1.1 418 Upgrade\r\n\r\n') } });
});
afterEach(() => open.close());

const target = '/api/v1/mcp/proxy/github/tools/arguments';
const body = JSON.stringify({ arguments: { text: 'ä'.repeat(100_000) } });
const call: RawRequest = { method: 'POST', target, body };
/** As Java's client sends it with every request. */
const offer = { connection: 'Upgrade, HTTP2-Settings, close', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAAB' };
const port = () => open.listener.port;

it('an offer of HTTP/2 is passed over, with and without a body', async () => {
  const reply = await rawRequest(port(), { ...call, headers: { ...jsonHeaders, ...offer } });
  expect(reply.status).toBe(200);
  expect(JSON.parse(reply.body)).toMatchObject({ success: true, result: { text: 'ä'.repeat(100_000) } });
  expect(await rawRequest(port(), { target: '/healthz', headers: offer })).toMatchObject({ status: 200, body: '{"status":"ok"}' });
  const chunked = { ...jsonHeaders, ...offer, 'content-length': undefined, 'transfer-encoding': 'chunked' };
  const bytes = Buffer.concat([
    requestBytes(port(), { ...call, body: '', headers: chunked }),
    Buffer.from('10\r\n{"arguments":{}}\r\n0\r\n\r\n'),
  ]);
  expect(parseReply(await exchange(port(), bytes)).status).toBe(200);
});

it('a connection is kept after an offer, for requests with and without one', async () => {
  const kept = { ...offer, connection: 'Upgrade, HTTP2-Settings' };
  const socket = connect(port(), '127.0.0.1');
  for (const headers of [kept, { connection: 'keep-alive' }, kept]) {
    socket.write(requestBytes(port(), { target: '/healthz', headers }));
    expect(String(await once(socket, 'data').then(([chunk]) => chunk))).toContain('HTTP/1.1 200 OK');
  }
  socket.write(requestBytes(port(), { target: '/healthz', headers: offer }));
  expect(parseReply(await untilClosed(socket)).status).toBe(200);
});

it.each(['h2c', 'HTTP/2.0, h2c'])('a request with the offer of %s is checked like any other', { tags: ['P-203'] }, async (upgrade) => {
  const send = (request: RawRequest) => rawRequest(port(), { ...request, headers: { ...offer, upgrade, ...request.headers } });
  expect(await send({ ...call, headers: { ...jsonHeaders, host: 'evil.example' } })).toMatchObject({ status: 403 });
  expect(await send({ ...call, headers: { ...jsonHeaders, origin: 'https://evil.example' } })).toMatchObject({ status: 403 });
  expect(await send({ ...call, headers: { 'content-type': 'application/json' } })).toMatchObject({ status: 401 });
  expect(await send({ target: '/nowhere' })).toMatchObject({ status: 404 });
});

it.each(['websocket', 'WebSocket', 'h2c, websocket', 'something'])('a request for %s is still one to upgrade', async (upgrade) => {
  expect((await rawRequest(port(), { target: '/', headers: { connection: 'upgrade', upgrade } })).status).toBe(418);
});

it.each([
  [{}, 200],
  [{ host: 'evil.example' }, 403],
  [{ authorization: undefined }, 401],
])('an expectation that nobody knows changes no answer (%j)', async (headers, status) => {
  const reply = await rawRequest(port(), { ...call, headers: { ...jsonHeaders, expect: 'wonders', ...headers } });
  expect([reply.status, reply.headers['content-type']]).toEqual([status, 'application/json; charset=utf-8']);
});
