// @module-tag deep
// @module-tag P-364

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuthorizationServer, fetchTimeoutMs } from '../support/authorization-server.js';
import { ownPort } from '../support/own-port.js';
import { PersonClient } from '../support/person-client.js';
import { runProgram } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { createTokenIssuer, encodePart } from '../support/token-issuer.js';
import { fixtureServer } from '../support/upstreams.js';

const machine = {
  client_id: 'a-machine',
  client_secret: 'the secret of a machine',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
  token_endpoint_auth_method: 'client_secret_post',
};
const scopes = [
  { scope: 'tools:all', allow: ['calls:*'] },
  { scope: 'tools:read', allow: ['calls:echo'], perMinute: 1000 },
];
const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] } };

/** The keys of the authorization server: with them a test can sign what it never would. */
const keys = createTokenIssuer();
let issuer: AuthorizationServer;
let hub: ServedHub;
let audience: string;
beforeAll(async () => {
  issuer = await AuthorizationServer.open({
    clients: [machine],
    jwks: { keys: [{ ...keys.privateKey.export({ format: 'jwk' }), kid: 'key-1' }] },
  });
  hub = await startHub(issuer.issuer);
  audience = `${hub.url}/mcp`;
}, fetchTimeoutMs);
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

/** On a port that is known before: a token is for an address. */
async function startHub(by: string, more: JsonObject = {}): Promise<ServedHub> {
  const port = await ownPort();
  const auth = { issuer: by, audience: `http://127.0.0.1:${port}/mcp`, scopes, ...more };
  return ServedHub.start({ servers, notebridge: { auth }, args: ['--notebook', 'none'], port });
}

/** A token that the authorization server gives to a machine. */
async function tokenFor(resource: string | undefined, scope: string): Promise<string> {
  const { client_id, client_secret } = machine;
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope, ...(resource && { resource }) });
  const answer = (await (await fetch(`${issuer.issuer}/token`, { method: 'POST', body })).json()) as JsonObject;
  expect(answer).toMatchObject({ access_token: expect.any(String) });
  return String(answer.access_token);
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
};

async function knock(token: string | undefined, at = hub) {
  const response = await at.request('/mcp', {
    body: initialize,
    headers: { accept: 'application/json, text/event-stream' },
    ...(token !== undefined && { token }),
  });
  await response.text();
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate') ?? '',
    session: response.headers.get('mcp-session-id'),
  };
}

const call = async (client: Client, name: string) => client.callTool({ name, arguments: {} });

describe('the door for agents behind an authorization server', () => {
  it('is found, and opened for a person, by a client of the official SDK that registers itself', async () => {
    const person = new PersonClient();
    const transport = new StreamableHTTPClientTransport(new URL(audience), { authProvider: person });
    await expect(new Client({ name: 't', version: '1' }).connect(transport)).rejects.toThrow();
    expect(person.came?.get('iss')).toBe(issuer.issuer);
    await transport.finishAuth(person.came ?? new URLSearchParams());
    const client = new Client({ name: 't', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(audience), { authProvider: person }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('calls__env');
    expect(await call(client, 'calls__echo')).toMatchObject({ structuredContent: {} });
    await client.close();
    const audit = readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8');
    expect(audit).toMatch(/"tool":"echo"/);
    expect(audit + hub.stderr).not.toContain(person.tokens()?.access_token ?? '?');
  });

  it('has its metadata at both addresses, and names them in each refusal', async () => {
    const resource = { resource: audience, authorization_servers: [issuer.issuer], scopes_supported: ['tools:all', 'tools:read'] };
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])
      expect(await (await hub.request(path)).json()).toMatchObject(resource);
    const { status, challenge } = await knock(undefined);
    expect(status).toBe(401);
    expect(challenge).toBe(
      `Bearer realm="notebridge", resource_metadata="${hub.url}/.well-known/oauth-protected-resource/mcp", scope="tools:all tools:read"`,
    );
  });

  it('gives each scope what the config says, and a token without any of them nothing', async () => {
    const connect = async (token: string) => {
      const client = new Client({ name: 't', version: '1' });
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(audience), { requestInit }));
      return client;
    };
    const reader = await connect(await tokenFor(audience, 'tools:read'));
    expect((await reader.listTools()).tools.map(({ name }) => name).filter((name) => name.startsWith('calls'))).toEqual(['calls__echo']);
    expect(await call(reader, 'calls__echo')).toMatchObject({ structuredContent: {} });
    await expect(call(reader, 'calls__env')).rejects.toThrow(/grant does not allow|denied|allow/);
    await reader.close();
    const all = await connect(await tokenFor(audience, 'tools:all tools:read'));
    expect(await call(all, 'calls__env')).toMatchObject({ structuredContent: expect.anything() });
    await all.close();
    expect(await knock(await tokenFor(audience, 'read'))).toMatchObject({
      status: 403,
      challenge: expect.stringContaining('error="insufficient_scope", resource_metadata='),
      session: null,
    });
  });

  it('stays shut for a token that is for somebody else, forged, of another issuer, expired, or for another door', async () => {
    const other = createTokenIssuer('RS256', 'key-1');
    const nowS = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer.issuer, aud: audience, scope: 'tools:all', sub: 'me', iat: nowS - 10, exp: nowS + 600 };
    const good = await tokenFor(audience, 'tools:all');
    expect(await knock(good)).toMatchObject({ status: 200 });
    const [header = '', payload = '', signature = ''] = good.split('.');
    const parts = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JsonObject;
    const kid = (JSON.parse(Buffer.from(header, 'base64url').toString()) as JsonObject).kid as string;
    const shut: Record<string, string> = {
      'for another audience': await tokenFor('https://other.test/mcp', 'tools:all'),
      'for one that begins like ours': await tokenFor(`${audience}/more`, 'tools:all'),
      'for the same server elsewhere': await tokenFor(`${hub.url}/`, 'tools:all'),
      'with changed claims': `${header}.${encodePart({ ...parts, scope: 'tools:all tools:read' })}.${signature}`,
      'without a signature': `${encodePart({ alg: 'none' })}.${encodePart(claims)}.x`,
      'of a key of another issuer': other.sign(claims, { kid }),
      'that names a key of its own': other.sign(claims, { kid, jku: 'http://127.0.0.1:9/jwks', jwk: other.keySet.keys[0] }),
      'signed with a secret': await signedWithSecret(claims, kid),
      'of another issuer': other.sign({ ...claims, iss: 'https://other.test' }),
      'that has expired': keys.sign({ ...claims, exp: nowS - 60 }),
      'that does not hold yet': keys.sign({ ...claims, nbf: nowS + 600 }),
      'that never ends': keys.sign({ ...claims, exp: undefined }),
      'of nobody': keys.sign({ ...claims, sub: undefined }),
      'that is opaque': await tokenFor(undefined, 'tools:all'),
    };
    expect(await knock(keys.sign({ ...claims, nbf: nowS }))).toMatchObject({ status: 200 });
    for (const [what, token] of Object.entries(shut))
      expect({ what, ...(await knock(token)) }).toMatchObject({
        what,
        status: 401,
        session: null,
        challenge: expect.stringContaining('invalid_token'),
      });
    // Of code in kernels this is not the door.
    expect((await hub.call('calls', 'echo', {}, good)).status).toBe(401);
  });

  it('lets in no token whose keys cannot be fetched, and everyone else as before', async () => {
    await using deaf = await startHub('http://127.0.0.1:9');
    const token = await tokenFor(`${deaf.url}/mcp`, 'tools:all');
    expect(await knock(token, deaf)).toMatchObject({ status: 503, session: null });
    expect(await knock(deaf.ownerToken, deaf)).toMatchObject({ status: 200 });
    const { token: granted } = await deaf.grant('--agent');
    expect(await knock(granted, deaf)).toMatchObject({ status: 200 });
    await using lied = await startHub(`${issuer.issuer}/`);
    expect(await knock(await tokenFor(`${lied.url}/mcp`, 'tools:all'), lied)).toMatchObject({ status: 503 });
  });

  it('shuts when a person revokes what a token was given', async () => {
    const token = await tokenFor(audience, 'tools:read');
    expect(await knock(token)).toMatchObject({ status: 200 });
    const { stdout } = await hub.run('grant', 'list', '--json');
    const { grants } = JSON.parse(stdout) as { grants: { id: string; label: string; allow: string[] }[] };
    const ours = grants.filter(({ label, allow }) => label?.startsWith('oauth ') && allow.includes('calls:echo'));
    expect(ours).toHaveLength(1);
    await hub.run('grant', 'revoke', ours[0]?.id ?? '');
    await expect.poll(async () => (await knock(token)).status).toBe(401);
  });

  it('is not to be had together with --no-auth', async () => {
    const args = ['serve', '--port', '0', '--no-auth', '--notebook', 'none', '--config', hub.configFile];
    const { ending, stderr } = await runProgram(args, { env: hub.env });
    expect(ending).toBe(2);
    expect(stderr).toContain('--no-auth');
  });
});

/** With the public key as the secret, which a careless verifier takes. */
async function signedWithSecret(claims: JsonObject, kid: string): Promise<string> {
  const { SignJWT } = await import('jose');
  const keys = await (await fetch(`${issuer.issuer}/jwks`)).text();
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(Buffer.from(keys));
}
