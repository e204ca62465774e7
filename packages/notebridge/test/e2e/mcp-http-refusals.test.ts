// @module-tag deep
// @module-tag P-115
// @module-tag P-185

import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { parseAccept } from '../../src/doors/mcp/http-call.js';
import { initialize, openMcpHttp } from '../support/mcp-http.js';
import { exchange, type RawRequest, rawRequest, requestBytes } from '../support/raw-http.js';

const good = { authorization: 'Bearer good', 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const opening = JSON.stringify(initialize());
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

describe('the HTTP door: what is refused, byte for byte', () => {
  const cases: { name: string; request: RawRequest; status: number; code?: number; header?: [string, RegExp] }[] = [
    {
      name: 'no token',
      request: { headers: { authorization: undefined } },
      status: 401,
      code: -32019,
      header: ['www-authenticate', /^Bearer realm="notebridge"$/],
    },
    {
      name: 'a wrong token',
      request: { headers: { authorization: 'Bearer bad' } },
      status: 401,
      code: -32019,
      header: ['www-authenticate', /invalid_token/],
    },
    { name: 'two tokens', request: { headers: { authorization: ['Bearer bad', 'Bearer good'] } }, status: 400 },
    { name: 'a foreign Host', request: { headers: { host: 'evil.example' } }, status: 403, code: -32019 },
    { name: 'two Hosts', request: { headers: { host: ['127.0.0.1', 'evil.example'] } }, status: 400 },
    { name: 'a foreign Origin', request: { headers: { origin: 'https://evil.example' } }, status: 403 },
    { name: 'a loopback Origin, which gets no bonus', request: { headers: { origin: 'http://localhost:3000' } }, status: 403 },
    { name: 'the Origin "null"', request: { headers: { origin: 'null' } }, status: 403 },
    { name: 'a page of another site', request: { headers: { 'sec-fetch-site': 'cross-site' } }, status: 403 },
    { name: 'an Accept that takes neither form', request: { headers: { accept: 'text/html' } }, status: 406, code: -32600 },
    { name: 'a body of another type', request: { headers: { 'content-type': 'text/plain' } }, status: 415 },
    { name: 'a form', request: { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, status: 415 },
    { name: 'a type that only begins like JSON', request: { headers: { 'content-type': 'application/json-patch' } }, status: 415 },
    { name: 'no type', request: { headers: { 'content-type': undefined } }, status: 415 },
    { name: 'a compressed body', request: { headers: { 'content-encoding': 'gzip' } }, status: 415 },
    { name: 'a body that is not JSON', request: { body: '{' }, status: 400, code: -32700 },
    { name: 'an empty body', request: { body: '' }, status: 400, code: -32700 },
    { name: 'a body that is not UTF-8', request: { body: Buffer.from([0x22, 0xff, 0x22]) }, status: 400, code: -32700 },
    { name: 'a body that is nested too deeply', request: { body: '['.repeat(200_000) }, status: 400 },
    { name: 'JSON that is no message', request: { body: '{"jsonrpc":"2.0","id":3}' }, status: 400, code: -32600 },
    { name: 'a number', request: { body: '1' }, status: 400, code: -32600 },
    { name: 'an id that is null', request: { body: '{"jsonrpc":"2.0","id":null,"method":"ping"}' }, status: 400, code: -32600 },
    { name: 'an empty batch', request: { body: '[]' }, status: 400, code: -32600 },
    { name: 'a batch with something that is no message', request: { body: `[${ping},1]` }, status: 400, code: -32600 },
    { name: 'a batch that opens a session', request: { body: `[${opening},${ping}]` }, status: 400, code: -32600 },
    { name: 'a request without a session', request: { body: ping }, status: 400, code: -32600 },
    { name: 'a notification without a session', request: { body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' }, status: 400 },
    {
      name: 'a session that nobody opened',
      request: { headers: { 'mcp-session-id': 'x'.repeat(32) }, body: ping },
      status: 404,
      code: -32008,
    },
    { name: 'two session ids', request: { headers: { 'mcp-session-id': ['a', 'b'] }, body: ping }, status: 404 },
    { name: 'a session id named like a property', request: { headers: { 'mcp-session-id': '__proto__' }, body: ping }, status: 404 },
    { name: 'an initialize for a session that is gone', request: { headers: { 'mcp-session-id': 'gone' } }, status: 404 },
    {
      name: 'a version that does not exist',
      request: { headers: { 'mcp-protocol-version': '1999-01-01' }, body: ping },
      status: 400,
      code: -32022,
    },
    { name: 'a GET without a session', request: { method: 'GET' }, status: 400 },
    { name: 'a GET that takes no stream', request: { method: 'GET', headers: { accept: 'application/json' } }, status: 406 },
    { name: 'a DELETE without a session', request: { method: 'DELETE' }, status: 400 },
    { name: 'another method', request: { method: 'PUT' }, status: 405, header: ['allow', /^DELETE, GET, OPTIONS, POST$/] },
    { name: 'a path behind the door', request: { target: '/mcp/x' }, status: 404 },
  ];

  it.each(cases)('a request is refused: $name', async ({ request, status, code, header }) => {
    const { listener, door } = await openMcpHttp();
    const reply = await rawRequest(listener.port, {
      method: 'POST',
      target: '/mcp',
      body: opening,
      ...request,
      headers: { ...good, ...request.headers },
    });
    expect(reply.status).toBe(status);
    if (code !== undefined) expect(JSON.parse(reply.body)).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.any(String) } });
    if (header !== undefined) expect(reply.headers[header[0]]).toMatch(header[1]);
    expect(door.sessions).toBe(0);
  });

  it('a body over the limit, by its length and by what comes', async () => {
    const { listener } = await openMcpHttp({ http: { maxBodyBytes: 1000 } });
    const body = JSON.stringify({ ...initialize(), x: 'x'.repeat(1000) });
    const chunked = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
    const bytes = requestBytes(listener.port, { method: 'POST', target: '/mcp', headers: { ...good, ...chunked } });
    const text = await exchange(listener.port, Buffer.concat([bytes, Buffer.from(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)]));
    expect(text).toMatch(/^HTTP\/1.1 413 /);
    const reply = await rawRequest(listener.port, { method: 'POST', target: '/mcp', headers: good, body });
    expect([reply.status, (JSON.parse(reply.body) as JsonObject).error]).toMatchObject([413, { data: { code: 'message_too_large' } }]);
  });

  it('shows nothing of a token or a session id in what it refuses', async () => {
    const { listener, open } = await openMcpHttp();
    const { id } = await open();
    const headers = { ...good, 'mcp-session-id': id, authorization: 'Bearer super-secret' };
    const { body } = await rawRequest(listener.port, { method: 'POST', target: '/mcp', headers, body: ping });
    expect(body).not.toMatch(/super-secret/);
    expect(body).not.toContain(id);
  });
});

describe('the HTTP door: pages that are allowed', () => {
  const origin = 'https://app.example';

  it('may ask what they may send, and read the id of their session', async () => {
    const { listener } = await openMcpHttp({ http: { allowOrigins: [origin] } });
    const preflight = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'mcp-session-id' };
    const asked = await rawRequest(listener.port, { method: 'OPTIONS', target: '/mcp', headers: preflight });
    expect([asked.status, asked.headers['access-control-allow-origin']]).toEqual([204, origin]);
    expect(asked.headers['access-control-allow-headers']).toMatch(/mcp-session-id/);
    const posted = await rawRequest(listener.port, { method: 'POST', target: '/mcp', headers: { ...good, origin }, body: opening });
    expect([posted.status, posted.headers['access-control-expose-headers']]).toEqual([200, expect.stringContaining('mcp-session-id')]);
  });

  it('are the only ones', async () => {
    const { listener } = await openMcpHttp({ http: { allowOrigins: [origin] } });
    const headers = { origin: `${origin}.evil.example`, 'access-control-request-method': 'POST' };
    const { status, headers: answered } = await rawRequest(listener.port, { method: 'OPTIONS', target: '/mcp', headers });
    expect([status, answered['access-control-allow-origin']]).toEqual([403, undefined]);
  });
});

describe('parseAccept', () => {
  it.each([
    [undefined, true, true],
    ['*/*', true, true],
    ['application/json', true, false],
    ['Application/JSON;q=0.9 , TEXT/event-stream; x=y', true, true],
    ['text/*', false, true],
    ['text/html, application/xml', false, false],
    ['', false, false],
  ])('reads %j', (header, json, eventStream) => {
    expect(parseAccept(header)).toEqual({ json, eventStream });
  });
});
