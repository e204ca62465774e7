// @module-tag deep

import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openAnswering, openLiar } from '../../../test/support/lying-server.js';
import { httpConfig } from '../../../test/support/upstreams.js';
import type { RemoteServerConfig } from '../../config/server-config.js';
import { logIn } from './log-in.js';
import { logOut } from './log-out.js';
import { Logins, openLoginStore } from './logins.js';

const remote = (url: string, more: object = {}) => httpConfig(url, { name: 'remote', ...more }) as RemoteServerConfig;

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'notebridge-login-'));
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

describe('a login', () => {
  it('is made where the server says that its metadata are, also at an address of its own', async () => {
    const issuer = await openLiar();
    const { origin } = await openAnswering((own) => ({
      '/mcp': (_, response) => response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${own}/its-own"` }).end(),
      '/its-own': { resource: `${own}/mcp`, authorization_servers: [issuer.origin] },
    }));
    const comeBack = async (shown: string) => {
      const { searchParams } = new URL(shown);
      const callback = new URL(searchParams.get('redirect_uri') ?? '');
      for (const [name, value] of [
        ['state', searchParams.get('state') ?? ''],
        ['code', 'code'],
        ['iss', issuer.origin],
      ] as const)
        callback.searchParams.set(name, value);
      await fetch(callback);
    };
    const options = { config: remote(`${origin}/mcp`), stateDir, env: {}, clientName: 'Test', timeoutMs: 20_000, show: comeBack };
    expect(await logIn(options)).toMatchObject({ issuer: issuer.origin });
  });

  it('of a machine has its token out of all logs from the moment that it has it', async () => {
    const { origin } = await openLiar({ issuer: { grant_types_supported: ['client_credentials'] } });
    const known = new Set<string>();
    const config = remote(`${origin}/mcp`, { auth: { grant: 'client_credentials', clientId: 'c', clientSecret: 's', algorithm: 'ES256' } });
    const tokens = new Logins({ redactor: { add: (secret) => void known.add(secret) }, clientName: 'Test' }).tokensOf(config, fetch);
    await tokens?.onUnauthorized({ response: await fetch(`${origin}/mcp`, { method: 'POST' }) });
    expect(known).toContain('good');
    expect(await tokens?.token()).toBe('good');
  });
});

describe('a logout', () => {
  it('leaves no connection to the authorization server open', async () => {
    const connections: Socket[] = [];
    const server = createServer((_, response) => response.end()).on('connection', (socket) => connections.push(socket));
    // It says so, and a connection that nobody ends stays for so long.
    server.keepAliveTimeout = 600_000;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // With certificates of its own, connections are ours to end, and not those of all of Node.
    const ca = join(stateDir, 'ca.pem');
    await writeFile(ca, '');
    const config = remote(`${origin}/mcp`, { ca });
    await openLoginStore(config.url, stateDir).save({
      issuer: origin,
      discovery: {
        authorizationServerUrl: origin,
        authorizationServerMetadata: {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          revocation_endpoint: `${origin}/revoke`,
          response_types_supported: ['code'],
        },
      },
      client: { client_id: 'c' },
      tokens: { access_token: 'good', token_type: 'Bearer' },
    });
    expect(await logOut(config, { stateDir, env: {} })).toEqual({ was: 'revoked', isSpent: true });
    expect(connections.length).toBeGreaterThan(0);
    for (const connection of connections) if (!connection.closed) await once(connection, 'close');
    expect(await logOut(config, { stateDir, env: {} })).toEqual({ was: 'none' });
  });
});
