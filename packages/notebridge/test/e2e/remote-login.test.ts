// @module-tag deep
// @module-tag P-362

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuthorizationServer, browse, fetchTimeoutMs } from '../support/authorization-server.js';
import { Program } from '../support/program.js';
import { ProtectedUpstream, type Protection } from '../support/protected-upstream.js';
import { ServedHub } from '../support/served-hub.js';

let issuer: AuthorizationServer;
beforeAll(async () => {
  issuer = await AuthorizationServer.open({
    clients: [
      {
        client_id: 'a-machine',
        client_secret: 'the secret of a machine',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
  });
}, fetchTimeoutMs);
afterAll(() => issuer[Symbol.asyncDispose]());

async function open(more: Partial<Protection> = {}, entry: JsonObject = {}) {
  const server = await ProtectedUpstream.open({ issuer: issuer.issuer, ...more });
  const hub = await ServedHub.start({ servers: { remote: { url: server.url, ...entry } } });
  return {
    server,
    hub,
    call: async (tool = 'echo', args: JsonObject = { text: 'hi' }) => (await hub.call('remote', tool, args, hub.ownerToken)).answer,
    /** What the state folder keeps of logins. */
    kept: () => {
      const folder = join(hub.stateDir, 'logins');
      return readdirSync(folder).map((name) => ({ name, path: join(folder, name), text: readFileSync(join(folder, name), 'utf8') }));
    },
    [Symbol.asyncDispose]: async () => {
      await hub[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A person who runs the command and opens the address that it prints. */
async function logIn(hub: ServedHub, ...args: string[]) {
  const lines: string[] = [];
  const program = new Program({
    args: ['login', 'remote', '--config', hub.configFile, ...args],
    env: hub.env,
    onLine: (line) => lines.push(line),
  });
  await program.until(() => lines.length > 0);
  const seen = await browse(lines[0] ?? '');
  await program.close();
  return { seen, stderr: program.stderr, code: program.child.exitCode, url: new URL(lines[0] ?? '') };
}

describe('a remote server behind an authorization server', () => {
  it('is logged in by the command, without a restart of the hub; the token is for it alone, renewed, revoked, and written nowhere', async () => {
    await using opened = await open();
    const { hub, server, call, kept } = opened;
    const before = await call();
    expect(before).toMatchObject({ success: false, is_error: false, error_code: 'login_required' });
    expect(before.error).toContain(`notebridge login remote --config ${hub.configFile}`);
    expect(server.tokens).toEqual([]);

    const { seen, stderr, code, url } = await logIn(hub);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/Logged in at "remote" by "http:\/\/127\.0\.0\.1:\d+" for "read offline_access"; it holds until it is revoked/);
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    expect(url.searchParams.get('resource')).toBe(server.url);
    expect(seen.ways.at(-1)?.searchParams.get('iss')).toBe(issuer.issuer);
    expect(await call()).toMatchObject({ success: true, result: 'hi' });
    expect(server.claims.at(-1)).toMatchObject({ aud: server.url, scope: 'read offline_access', iss: issuer.issuer });
    expect(hub.child.exitCode).toBeNull();

    const [file] = kept();
    expect(statSync(file?.path ?? '').mode & 0o777).toBe(0o600);
    const first = server.tokens.at(-1) ?? '';
    server.refused.add(first);
    const renewed = await Promise.all([call(), call(), call()]);
    expect(renewed.map(({ success }) => success)).toEqual([true, true, true]);
    const second = server.tokens.at(-1) ?? '';
    expect(second).not.toBe(first);

    const out = await hub.run('logout', 'remote', '--config', hub.configFile);
    expect(out).toMatchObject({ ending: 0, stdout: expect.stringContaining('has ended the login; the last token, which it') });
    expect(kept()).toEqual([]);
    expect(await call()).toMatchObject({ error_code: 'login_required' });

    const refresh = (JSON.parse(file?.text ?? '') as { login: { tokens: JsonObject } }).login.tokens.refresh_token;
    const answered = await refreshBy(String(refresh), file?.text ?? '');
    expect(answered).toMatchObject({ error: 'invalid_grant' });
    const audit = readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8');
    for (const secret of [first, second, String(refresh)]) expect(hub.stderr + hub.stdout + stderr + audit).not.toContain(secret);
  }, 180_000);

  it('a server that wants more for a call ends it with the scopes; the command asks for both together', async () => {
    await using opened = await open({ toolScopes: { echo: ['write'] } });
    const { hub, call } = opened;
    await logIn(hub);
    const refused = await call();
    expect(refused).toMatchObject({ success: false, error_code: 'login_required' });
    expect(refused.error).toContain(`notebridge login remote --scope 'read write' --config ${hub.configFile}`);
    expect((await logIn(hub, '--scope', 'write')).stderr).toContain('for "read offline_access write"');
    expect(await call()).toMatchObject({ success: true, result: 'hi' });
  }, 180_000);

  it('a server whose tokens are not renewed any more needs another login, and says so', async () => {
    await using opened = await open();
    const { hub, server, call, kept } = opened;
    await logIn(hub);
    expect(await call()).toMatchObject({ success: true });
    // Ended where it was issued, as a person can do there.
    const { login } = JSON.parse(kept()[0]?.text ?? '') as { login: { tokens: JsonObject; client: { client_id: string } } };
    const body = new URLSearchParams({ token: String(login.tokens.refresh_token), client_id: login.client.client_id });
    await fetch(`${issuer.issuer}/token/revocation`, { method: 'POST', body });
    server.refused.add(String(login.tokens.access_token));
    const ended = await call();
    expect(ended).toMatchObject({ error_code: 'login_required', error: expect.stringContaining('does not renew it') });
    await logIn(hub);
    expect(await call()).toMatchObject({ success: true });
  }, 180_000);

  it('a server that names another authorization server by now needs another login; what the first has issued is not sent to the second', async () => {
    await using second = await AuthorizationServer.open();
    await using opened = await open();
    const { hub, server, call, kept } = opened;
    await logIn(hub);
    expect(await call()).toMatchObject({ success: true });
    const before = kept()[0]?.text;
    server.protection = { issuer: second.issuer };
    expect(await call()).toMatchObject({
      error_code: 'login_required',
      error: expect.stringContaining('another one than that of the login'),
    });
    expect(kept()[0]?.text).toBe(before);
    expect((await logIn(hub)).stderr).toContain(`by "${second.issuer}"`);
    expect(await call()).toMatchObject({ success: true });
    expect(server.claims.at(-1)).toMatchObject({ iss: second.issuer });
  }, 180_000);

  it('lets a machine in by its own secret, which is sent to the token endpoint alone', async () => {
    const auth = { grant: 'client_credentials', clientId: 'a-machine', clientSecret: 'the secret of a machine', scope: 'read' };
    await using opened = await open({}, { auth });
    const { hub, server, call } = opened;
    expect(await call()).toMatchObject({ success: true, result: 'hi' });
    expect(server.claims.at(-1)).toMatchObject({ client_id: 'a-machine', aud: server.url });
    server.refused.add(server.tokens.at(-1) ?? '');
    expect(await call()).toMatchObject({ success: true });
    expect(hub.stderr).not.toContain('the secret of a machine');
  }, 180_000);
});

async function refreshBy(token: string, text: string): Promise<unknown> {
  const { login } = JSON.parse(text) as { login: { client: { client_id: string } } };
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token, client_id: login.client.client_id });
  return (await fetch(`${issuer.issuer}/token`, { method: 'POST', body })).json();
}
