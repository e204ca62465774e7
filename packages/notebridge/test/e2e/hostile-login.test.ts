// @module-tag P-363

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { UpstreamAuth } from '../../src/config/server-config.js';
import { logIn } from '../../src/upstreams/oauth/log-in.js';
import { type Answer, type Lies, openAnswering, openLiar } from '../support/lying-server.js';
import { httpConfig } from '../support/upstreams.js';

interface Untrue extends Lies {
  auth?: Partial<UpstreamAuth>;
}

/** A person who comes back as `come` says, at a server that lies. */
async function attempt(lies: Untrue, come: (callback: URL, origin: string) => Promise<unknown> | unknown = () => {}, timeoutMs = 60_000) {
  const { origin, asked } = await openLiar(lies);
  const stateDir = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const shown: URL[] = [];
  const auth = lies.auth && { grant: 'authorization_code' as const, algorithm: 'ES256', ...lies.auth };
  const result: unknown = await logIn({
    config: httpConfig(`${origin}/mcp`, { name: 'remote', ...(auth && { auth }) }) as Parameters<typeof logIn>[0]['config'],
    stateDir,
    env: {},
    clientName: 'Test',
    timeoutMs,
    show: async (url) => {
      shown.push(new URL(url));
      const { searchParams } = new URL(url);
      const callback = new URL(searchParams.get('redirect_uri') ?? '');
      callback.searchParams.set('state', searchParams.get('state') ?? '');
      callback.searchParams.set('code', 'code');
      callback.searchParams.set('iss', origin);
      await come(callback, origin);
    },
  }).catch((error: unknown) => error);
  const folder = join(stateDir, 'logins');
  const kept = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  return { result, shown, asked, kept, origin };
}

const nothingFurther = { shown: [], kept: [] };
const goBack = (callback: URL) => fetch(callback);

describe('a login', () => {
  it('succeeds where everything fits', { tags: ['P-362'] }, async () => {
    expect(await attempt({}, goBack)).toMatchObject({ result: { isRenewed: false }, kept: [expect.stringMatching(/^[\da-f]{64}\.json$/)] });
  });

  it.each([
    ['another issuer in its metadata', { issuer: 'https://other.test' }, /does not match|other\.test/],
    ['a token endpoint that is not secure', { token_endpoint: 'http://other.test/token' }, /other\.test\/token.*neither/],
    ['a way to register that is not secure', { registration_endpoint: 'http://other.test/reg' }, /other\.test\/reg.*neither/],
    ['an address to open that is not secure', { authorization_endpoint: 'http://other.test/a' }, /other\.test\/a.*neither/],
    ['no PKCE with S256', { code_challenge_methods_supported: ['plain'] }, /S256|code challenge/],
  ])('is refused with %s; nothing is shown, sent or kept', async (_, issuer, words) => {
    const { result, asked, ...rest } = await attempt({ issuer });
    expect(rest).toMatchObject(nothingFurther);
    expect(String(result)).toMatch(words);
    expect(asked).not.toContain('POST /token');
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'ftp://other.test/'])(
    'no login shows %s as the address to open',
    async (endpoint) => {
      const { result, ...rest } = await attempt({ issuer: { authorization_endpoint: endpoint } });
      expect(rest).toMatchObject(nothingFurther);
      expect(result).toBeInstanceOf(Error);
    },
  );

  it('is refused with metadata of another server, and with an issuer that the config does not accept', async () => {
    const other = await attempt({ resource: { resource: 'https://bank.test/mcp' } });
    expect(other).toMatchObject(nothingFurther);
    expect(String(other.result)).toMatch(/bank\.test/);
    const unwanted = await attempt({ auth: { issuer: 'https://login.test' } });
    expect(unwanted).toMatchObject({ ...nothingFurther, result: { code: 'bad_origin' } });
    expect(String(unwanted.result)).toMatch(/"https:\/\/login\.test" \("auth\.issuer"\)/);
  });

  it('no login sends a client of the config to another issuer than the config names', async () => {
    const { asked } = await attempt({ auth: { issuer: 'https://login.test', clientId: 'c', clientSecret: 'secret' } });
    expect(asked.filter((line) => line.startsWith('POST /token') || line.includes('/register'))).toEqual([]);
  });

  it('follows no redirect to another origin: not of metadata, and not with the code', async () => {
    const elsewhere = await openAnswering(() => ({}));
    const redirect: Answer = (_, response) => response.writeHead(307, { location: `${elsewhere.origin}/x` }).end();
    const metadata = await attempt({ resource: redirect });
    expect(metadata).toMatchObject({ ...nothingFurther, result: { code: 'bad_origin' } });
    const token = await attempt({ token: redirect }, goBack);
    expect(token).toMatchObject({ kept: [] });
    expect(String(token.result)).toMatch(/redirects to ".*", which is not followed/);
    expect(elsewhere.asked).toEqual([]);
  });

  it.each([
    ['another issuer', 'https://other.test'],
    ['none, where it always says who it is', undefined],
  ])('an answer that comes back from %s is refused, and its code is not used', async (_, iss) => {
    const { result, asked, kept } = await attempt({}, (callback) => {
      if (iss === undefined) callback.searchParams.delete('iss');
      else callback.searchParams.set('iss', iss);
      return fetch(callback);
    });
    expect(result).toMatchObject({ code: 'bad_origin' });
    expect([asked.includes('POST /token'), kept]).toEqual([false, []]);
  });

  it('is not ended by a request that does not know its state, nor by another path or method', async () => {
    const statuses: number[] = [];
    const { result } = await attempt({}, async (callback) => {
      const other = new URL(callback);
      other.searchParams.set('state', 'guessed');
      const twice = new URL(callback);
      twice.searchParams.append('state', 'guessed');
      const path = new URL(callback);
      path.pathname = '/other';
      for (const url of [other, twice, path]) statuses.push((await fetch(url)).status);
      statuses.push((await fetch(callback, { method: 'POST' })).status);
      const answer = await fetch(callback);
      statuses.push(answer.status);
      expect(await answer.text()).not.toContain('code');
    });
    expect(statuses).toEqual([400, 400, 404, 404, 200]);
    expect(result).toMatchObject({ isRenewed: false });
  });

  it('the refusal of a person ends a login at once; of what came along nothing is shown', async () => {
    const { result } = await attempt({}, async (callback) => {
      callback.searchParams.delete('code');
      callback.searchParams.set('error', 'access_denied');
      callback.searchParams.set('error_description', '<script>alert(1)</script>');
      expect(await (await fetch(callback)).text()).not.toContain('script');
    });
    expect(result).toMatchObject({ code: 'denied', message: expect.stringContaining('("access_denied")') });
  });

  it('the wait for a login that nobody answers ends', async () => {
    expect(await attempt({}, undefined, 200)).toMatchObject({ result: { code: 'timeout' }, kept: [] });
  });

  it('does not read metadata without end', async () => {
    const { result, ...rest } = await attempt({ issuer: { padding: 'x'.repeat(2 * 1024 * 1024) } });
    expect(String(result)).toMatch(/more than 1048576 bytes/);
    expect(rest).toMatchObject(nothingFurther);
  });

  it('says no word of what an authorization server wrote into its error', async () => {
    const token: Answer = (_, response) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: 'invalid_grant', error_description: 'the code was SECRET-CODE' }));
    const { result } = await attempt({ token }, goBack);
    expect(String(result)).not.toContain('SECRET-CODE');
    expect(result).toMatchObject({ code: 'upstream_unavailable' });
  });
});
