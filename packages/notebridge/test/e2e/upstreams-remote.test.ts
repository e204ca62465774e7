// @module-tag deep

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseJson, printJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { httpConfig, openUpstreams } from '../support/upstreams.js';

/** Numbers that JavaScript would print differently, with one that it would not, in the exact text of both directions. */
const odd = '{"n":[1.0,12345678901234567890,1e400,-0.0,0.1234567890123456789,7],"text":"1.0 12345678901234567890","__proto__":{"x":2.50}}';

/** A server of the legacy era that answers with the arguments as they came, letter by letter. `how`: as JSON, or as events in odd pieces. */
function echoing(how: 'json' | 'events', seen: string[]): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(Buffer.concat(chunks).toString(), { request, response, how, seen }));
  };
}

function answer(body: string, { request, response, how, seen }: Exchange): void {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method } = JSON.parse(body) as JsonObject;
  if (id === undefined) return void response.writeHead(202).end();
  const result = resultOf(String(method), body, seen);
  if (result === undefined)
    return void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'none' } }));
  const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
  if (how === 'json') return void response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = Buffer.from(`event: message\r\nid: 1\r\ndata: ${text}\r\n\r\n`);
  for (let at = 0; at < event.length; at += 7) response.write(event.subarray(at, at + 7));
  response.end();
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  how: 'json' | 'events';
  seen: string[];
}

function resultOf(method: string, body: string, seen: string[]): string | undefined {
  if (method === 'initialize')
    return '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"e","version":"1"}}';
  if (method === 'tools/list') return '{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}';
  if (method !== 'tools/call') return undefined;
  const sent = /"arguments":(\{.*?\}\})/.exec(body)?.[1] ?? '{}';
  seen.push(sent);
  return `{"content":[{"type":"text","text":"é"}],"structuredContent":${sent}}`;
}

async function listen<Kind extends Server>(server: Kind): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    if ('closeAllConnections' in server) (server as unknown as { closeAllConnections(): void }).closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

const text = (result: JsonObject): string => printJson(result.structuredContent);

describe('numbers of a server over HTTP', () => {
  it.each(['json', 'events'] as const)('keep their digits in both directions (%s)', { tags: ['P-072'] }, async (how) => {
    const seen: string[] = [];
    const port = await listen(createServer(echoing(how, seen)));
    const { call } = openUpstreams([httpConfig(`http://127.0.0.1:${port}/mcp`)]);
    const result = await call('echo', parseJson(odd) as JsonObject);
    expect(seen).toEqual([odd]);
    expect(text(result)).toBe(odd);
    expect(result.content).toEqual([{ type: 'text', text: 'é' }]);
  });
});

describe('a server over HTTP with a certificate of its own', () => {
  it('is called with "ca" of its entry, and not without', { tags: ['P-367'] }, async () => {
    const { key, cert, folder } = createCertificate();
    const port = await listen(createTlsServer({ key, cert }, echoing('json', [])));
    const url = `https://127.0.0.1:${port}/mcp`;
    const trusting = openUpstreams([httpConfig(url, { ca: join(folder, 'cert.pem') })]);
    expect(text(await trusting.call('echo', parseJson(odd) as JsonObject))).toBe(odd);
    const doubting = openUpstreams([httpConfig(url)], { limits: { coolDownMs: 0 } });
    await expect(doubting.call('echo')).rejects.toMatchObject({ code: 'upstream_unavailable' });
    const wrong = openUpstreams([httpConfig(url, { ca: join(folder, 'none.pem') })]);
    await expect(wrong.call('echo')).rejects.toMatchObject({
      message: expect.stringMatching(/"ca" of the config is the path of a file, and there is none at ".*none\.pem"/),
    });
  });
});

describe('a proxy', () => {
  async function open() {
    const port = await listen(createServer(echoing('json', [])));
    const dialled: string[] = [];
    const proxy = createServer();
    // Whatever name is asked for is our server: only through the proxy has it an address.
    proxy.on('connect', (request, socket) => {
      dialled.push(request.url ?? '');
      const further = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        further.pipe(socket);
        socket.pipe(further);
      });
      const end = (): void => {
        further.destroy();
        socket.destroy();
      };
      for (const each of [further, socket]) each.on('error', end).on('close', end);
    });
    return { dialled, proxy: `http://127.0.0.1:${await listen(proxy)}`, direct: `http://127.0.0.1:${port}/mcp` };
  }

  it('the proxy of the entry is used', { tags: ['P-367'] }, async () => {
    const { proxy, dialled } = await open();
    const { call } = openUpstreams([httpConfig('http://mcp.test/mcp', { proxy })]);
    expect(text(await call('echo', parseJson(odd) as JsonObject))).toBe(odd);
    expect(new Set(dialled)).toEqual(new Set(['mcp.test:80']));
  });

  it('the proxy of the environment is used, but for this machine and where NO_PROXY or the entry says no', {
    tags: ['P-367'],
  }, async () => {
    const { proxy, dialled, direct } = await open();
    const env = { HTTP_PROXY: proxy };
    const through = openUpstreams([httpConfig('http://mcp.test/mcp')], { env });
    expect(text(await through.call('echo', parseJson(odd) as JsonObject))).toBe(odd);
    expect(dialled.length).toBeGreaterThan(0);
    dialled.length = 0;
    expect(text(await openUpstreams([httpConfig(direct)], { env }).call('echo', parseJson(odd) as JsonObject))).toBe(odd);
    const limits = { coolDownMs: 0 };
    // Nothing listens there.
    const elsewhere = direct.replace('127.0.0.1', '127.0.0.2');
    for (const [config, more] of [
      [httpConfig(elsewhere), { NO_PROXY: '127.0.0.2' }],
      [httpConfig(elsewhere, { proxy: 'none' }), {}],
    ] as const)
      await expect(openUpstreams([config], { env: { ...env, ...more }, limits }).call('echo')).rejects.toMatchObject({
        code: 'upstream_unavailable',
      });
    expect(dialled).toEqual([]);
  });
});

function createCertificate(): { key: string; cert: string; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', ...subject];
  const printed = execFileSync('openssl', [...made, '-keyout', '-', '-out', '-'], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  const [key = '', cert = ''] = [/-----BEGIN PRIVATE[^]+?-----END PRIVATE KEY-----/, /-----BEGIN CERT[^]+?-----END CERTIFICATE-----/].map(
    (pattern) => pattern.exec(printed)?.[0] ?? '',
  );
  writeFileSync(join(folder, 'cert.pem'), cert);
  return { key, cert, folder };
}
