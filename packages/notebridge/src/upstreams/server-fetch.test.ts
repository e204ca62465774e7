import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createServerFetch } from './server-fetch.js';

const listen = async (server: Server & { closeAllConnections(): void }): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const get = async (config: Parameters<typeof createServerFetch>[0], env = {}): Promise<string> => {
  const { fetch, close } = await createServerFetch(config, env);
  onTestFinished(close);
  return (await fetch(config.url)).text();
};

it('a server is reached with the certificates of its entry, and not without', { tags: ['P-367'] }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-server-fetch-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const ca = join(folder, 'cert.pem');
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'];
  const made = [...kind, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', '-', '-out', ca];
  const key = execFileSync('openssl', made, { stdio: ['ignore', 'pipe', 'ignore'] });
  const cert = execFileSync('openssl', ['x509', '-in', ca]);
  const url = `https://${await listen(createTlsServer({ key, cert }, (_, response) => void response.end('reached')))}/`;
  expect(await get({ url, ca })).toBe('reached');
  await expect(get({ url })).rejects.toThrow('fetch failed');
});

it('a server is reached through the proxy of its entry or of the environment, this machine never', { tags: ['P-367'] }, async () => {
  const far = createServer((_, response) => void response.end('far'));
  const dialled: unknown[] = [];
  const proxy = createServer((request, response) => {
    dialled.push(request.url);
    response.end('through the proxy');
  });
  // Whatever name is asked for is our server: only through the proxy has it an address.
  proxy.on('connect', (request, socket) => {
    dialled.push(request.url);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    far.emit('connection', socket);
  });
  const [uri, url] = [
    `http://${await listen(proxy)}`,
    `http://${await listen(createServer((_, response) => void response.end('direct')))}/`,
  ];
  const there = 'http://mcp.test/';
  await get({ url: there, proxy: uri });
  await get({ url: there }, { HTTP_PROXY: uri });
  expect(dialled).toEqual([expect.stringContaining('mcp.test'), expect.stringContaining('mcp.test')]);
  expect(await get({ url }, { HTTP_PROXY: uri })).toBe('direct');
  await expect(get({ url: there, proxy: 'none' }, { HTTP_PROXY: uri })).rejects.toThrow('fetch failed');
  expect(dialled).toHaveLength(2);
});
