// @module-tag P-382

import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it, onTestFinished } from 'vitest';
import { coreAndDeep } from '../support/core-and-deep.js';
import { openAnswering } from '../support/lying-server.js';
import { Program } from '../support/program.js';

const host = 'mcp.internet.test';
const far = `https://${host}`;

function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    if ('closeAllConnections' in server) (server as unknown as { closeAllConnections(): void }).closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

/** A server on the internet: only through the proxy is it there. All else that is dialled by the proxy is noted, and what it is. */
async function openInternet(answer: RequestListener) {
  const folder = scratchFolder();
  const [keyFile, ca] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', ...subject];
  execFileSync('openssl', [...made, '-keyout', keyFile, '-out', ca], { stdio: 'ignore' });
  const tls = { key: readFileSync(keyFile), cert: readFileSync(ca) };
  const port = await listen(createTlsServer(tls, answer));
  const dialled: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    const target = request.url ?? '';
    dialled.push(target);
    const further = connect(target === `${host}:443` ? port : Number(target.split(':').at(-1)), '127.0.0.1', () => {
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
  return { ca, proxy: `http://127.0.0.1:${await listen(proxy)}`, dialled };
}

/** The answers of a server on the internet that wants a login. */
function answering(said: { challenge?: string; issuer?: JsonObject }): RequestListener {
  const json: Record<string, JsonObject> = {
    '/.well-known/oauth-protected-resource/mcp': { resource: `${far}/mcp`, authorization_servers: [far] },
    '/.well-known/oauth-authorization-server': {
      issuer: far,
      authorization_endpoint: `${far}/authorize`,
      token_endpoint: `${far}/token`,
      registration_endpoint: `${far}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      ...said.issuer,
    },
    '/register': { client_id: 'c', redirect_uris: ['http://127.0.0.1/callback'] },
  };
  return (request, response) => {
    request.resume();
    const body = json[request.url ?? ''];
    const challenge = `Bearer resource_metadata="${said.challenge ?? `${far}/.well-known/oauth-protected-resource/mcp`}"`;
    if (body !== undefined) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    else response.writeHead(request.url === '/mcp' ? 401 : 404, { 'www-authenticate': challenge }).end();
  };
}

/** The command, until it has shown an address or ended. */
async function startLogin({ ca, proxy }: { ca: string; proxy: string }, launch: readonly string[] = []) {
  const config = join(scratchFolder(), 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { remote: { url: `${far}/mcp`, ca, proxy } } }));
  const shown: string[] = [];
  const program = new Program({ args: ['login', 'remote', '--config', config], launch, onLine: (line) => shown.push(line) });
  onTestFinished(() => program[Symbol.asyncDispose]());
  await program.until(() => shown.length > 0 || program.stderr.includes('notebridge: '));
  return { shown, stderr: program.stderr };
}

it('a server on the internet is logged in at, where nothing is wrong', { tags: ['deep'] }, async () => {
  const { shown, stderr } = await startLogin(await openInternet(answering({})));
  expect(shown, stderr).toEqual([expect.stringContaining(`${far}/authorize?`)]);
});

const ownAddresses = ['http://127.0.0.1:8888/api/shutdown', 'https://localhost/x', 'https://192.168.0.1/reboot', 'http://[::1]:1/x'];
for (const { cells, tags } of coreAndDeep(ownAddresses, (_, index) => index % 2 === 0))
  it.each(cells)(
    'no address of the own network is shown to be opened, named by a server on the internet: %s',
    { tags },
    async (endpoint) => {
      const { shown, stderr } = await startLogin(await openInternet(answering({ issuer: { authorization_endpoint: endpoint } })));
      expect(shown).toEqual([]);
      expect(stderr).toContain('own network');
    },
  );

it('a name that has an address of the own network beside another is on the internet, and names nothing of this machine', async ({
  skip,
}) => {
  const hosts = join(scratchFolder(), 'hosts');
  writeFileSync(hosts, `127.0.0.1 localhost\n203.0.113.5 ${host}\n10.0.0.9 ${host}\n`);
  const launch = ['bwrap', '--dev-bind', '/', '/', '--ro-bind', hosts, '/etc/hosts', '--die-with-parent'];
  skip(spawnSync(launch[0] ?? '', [...launch.slice(1), 'true']).status !== 0, 'no bubblewrap on this machine, so no name of its own');
  const inside = await openAnswering(() => ({}));
  const internet = await openInternet(answering({ challenge: `${inside.origin}/api/shutdown` }));
  const { shown, stderr } = await startLogin(internet, launch);
  expect(inside.asked).toEqual([]);
  expect(internet.dialled.filter((target) => target !== `${host}:443`)).toEqual([]);
  expect(shown).toEqual([]);
  expect(stderr).toContain('own network');
});
