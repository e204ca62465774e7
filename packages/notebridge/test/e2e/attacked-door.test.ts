import { createHmac, createPublicKey, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGzip } from 'node:zlib';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { coreAndDeep } from '../support/core-and-deep.js';
import { type Answer, startAnswering } from '../support/lying-server.js';
import { ownPort } from '../support/own-port.js';
import { ServedHub } from '../support/served-hub.js';
import { settableClock, whyNoClock } from '../support/set-clock.js';
import { createTokenIssuer, encodePart } from '../support/token-issuer.js';
import { fixtureServer } from '../support/upstreams.js';

const scopes = [{ scope: 'tools:all', allow: ['calls:*'], calls: 3 }];
const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] } };
const keys = createTokenIssuer();

/** An issuer that answers for its keys as it likes, and a hub that trusts it. */
async function open({
  jwks = keys.keySet as unknown as JsonObject,
  metadata = {},
  env = {},
}: {
  jwks?: JsonObject | Answer;
  metadata?: JsonObject | Answer;
  env?: Record<string, string>;
}) {
  const issuer = await startAnswering((own) => ({
    '/.well-known/oauth-authorization-server':
      typeof metadata === 'function' ? metadata : { issuer: own, jwks_uri: `${own}/jwks`, ...metadata },
    '/jwks': jwks,
  }));
  const port = await ownPort();
  const auth = { issuer: issuer.origin, audience: `http://127.0.0.1:${port}/mcp`, scopes };
  const start = (user?: ServedHub) => ServedHub.start({ servers, notebridge: { auth }, args: ['--notebook', 'none'], port, env }, user);
  const hub = await start();
  const nowS = () => Math.floor(Date.now() / 1000);
  const claims = (): JsonObject => ({
    iss: issuer.origin,
    aud: auth.audience,
    sub: 'me',
    scope: 'tools:all',
    iat: nowS(),
    exp: nowS() + 600,
  });
  const close = async (): Promise<void> => {
    await hub[Symbol.asyncDispose]();
    await issuer.close();
  };
  return {
    issuer,
    hub,
    start,
    close,
    [Symbol.asyncDispose]: close,
    claims,
    token: (more: JsonObject = {}, header: JsonObject = {}) =>
      keys.sign({ nbf: undefined, 'kubernetes.io': undefined, ...claims(), ...more }, header),
  };
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
};
const accept = { accept: 'application/json, text/event-stream' };

async function knock(hub: ServedHub, token: string): Promise<number> {
  const response = await hub.request('/mcp', { body: initialize, headers: accept, token });
  await response.text();
  return response.status;
}

/** The grants of holders of access tokens. */
async function holders(hub: ServedHub): Promise<{ id: string; label: string }[]> {
  const { stdout } = await hub.run('grant', 'list', '--json');
  const { grants } = JSON.parse(stdout) as { grants: { id: string; label: string }[] };
  return grants.filter(({ label }) => label.startsWith('oauth '));
}

describe('a holder whose grant a person revoked', () => {
  it('stays out with that token, with another one that the issuer gave in the same hour, and after a restart', {
    tags: ['P-379'],
  }, async () => {
    await using opened = await open({});
    const { hub, start, token } = opened;
    const first = token();
    expect(await knock(hub, first)).toBe(200);
    const [grant] = await holders(hub);
    await hub.run('grant', 'revoke', grant?.id ?? '');
    await expect.poll(() => knock(hub, first)).toBe(401);
    expect(await knock(hub, token({ jti: 'another' }))).toBe(401);
    expect(await knock(hub, token({ jti: 'a later one', iat: Math.floor(Date.now() / 1000) + 3700 }))).toBe(200);
    await hub.stop();
    const again = await start(hub);
    expect(await knock(again, first)).toBe(401);
    expect(await knock(again, token({ iat: undefined }))).toBe(401);
    expect(await knock(again, token({ sub: 'somebody else' }))).toBe(200);
    await again.stop();
  });
});

describe('a budget', () => {
  it('is the same for the next token of a holder, also when the grant before has ended', { tags: ['P-379'] }, async ({ skip }) => {
    skip(whyNoClock !== undefined, whyNoClock);
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-clock-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const clock = settableClock(join(folder, 'clock'));
    await using opened = await open({ env: clock.env });
    const { hub, token, claims } = opened;
    const call = async (by: string): Promise<JsonObject> => {
      const opened = await hub.request('/mcp', { body: initialize, headers: accept, token: by });
      const session = opened.headers.get('mcp-session-id') ?? '';
      await opened.text();
      const body = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'calls__echo', arguments: {} } };
      const response = await hub.request('/mcp', { body, headers: { ...accept, 'mcp-session-id': session }, token: by });
      const text = await response.text();
      return JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text) as JsonObject;
    };
    const first = token();
    for (let n = 0; n < 3; n++) expect(await call(first)).toMatchObject({ result: { content: expect.anything() } });
    clock.set('+20m');
    expect(await knock(hub, first)).toBe(401);
    const next = token({ jti: 'next', exp: Number(claims().exp) + 20 * 60 });
    expect(await call(next)).toMatchObject({ error: { data: { code: 'budget_exhausted' } } });
  });
});

describe('the keys of an issuer', () => {
  const endless: Answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = `{"padding":"${'x'.repeat(1 << 20)}`;
    const more = (): void => {
      while (response.write(chunk));
    };
    response.on('drain', more).on('error', () => {});
    more();
  };
  const bomb: Answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    const zip = createGzip();
    zip
      .on('error', () => {})
      .pipe(response)
      .on('close', () => zip.destroy());
    const chunk = Buffer.alloc(1 << 20, 32);
    const more = (): void => {
      while (!zip.destroyed && zip.write(chunk));
    };
    zip.on('drain', more);
    more();
  };

  const lies: [string, Parameters<typeof open>[0]][] = [
    ['never end', { jwks: endless }],
    ['are a bomb', { jwks: bomb }],
    ['are behind metadata without end', { metadata: endless }],
    ['are behind metadata that are a bomb', { metadata: bomb }],
    ['are no keys', { jwks: { keys: 'none' } }],
    ['are redirected', { jwks: (_, response) => response.writeHead(302, { location: '/elsewhere' }).end() }],
  ];
  for (const { cells, tags } of coreAndDeep(lies, (_, index) => index % 2 === 0))
    it.each(cells)('keys that %s open nothing, and cost little', { tags: [...tags, 'P-380'], timeout: 60_000 }, async (_, lie) => {
      await using opened = await open(lie);
      const { hub, token } = opened;
      expect([401, 503]).toContain(await knock(hub, token()));
      const peak = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8'))?.[1]) / 1024;
      expect(peak).toBeLessThan(400);
      expect(await knock(hub, hub.ownerToken)).toBe(200);
    });
});

describe('a token that is odd', () => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open({});
  });
  afterAll(() => opened.close());

  it('opens nothing, whatever is odd about it', { tags: ['P-364'] }, async () => {
    const { hub, token, claims, issuer } = opened;
    expect(await knock(hub, token())).toBe(200);
    const aud = String(claims().aud);
    const jwk = keys.keySet.keys[0] ?? {};
    const pem = createPublicKey({ key: jwk as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' }) as string;
    const hs = (key: string | Buffer, alg = 'HS256'): string => {
      const head = `${encodePart({ alg, kid: 'key-1' })}.${encodePart(claims())}`;
      return `${head}.${createHmac('sha256', key).update(head).digest('base64url')}`;
    };
    const [head = '', body = '', signature = ''] = token().split('.');
    const raw = (text: string): string => {
      const part = Buffer.from(text).toString('base64url');
      const signed = `${encodePart({ alg: 'RS256', kid: 'key-1' })}.${part}`;
      return signRaw(signed);
    };
    const signRaw = (signed: string): string => `${signed}.${sign('sha256', Buffer.from(signed), keys.privateKey).toString('base64url')}`;
    const other = createTokenIssuer();
    const nowS = Math.floor(Date.now() / 1000);
    const odd: Record<string, string> = {
      'aud in other case': token({ aud: aud.toUpperCase() }),
      'aud with a slash': token({ aud: `${aud}/` }),
      'aud without the path': token({ aud: aud.replace('/mcp', '') }),
      'aud with a query': token({ aud: `${aud}?x` }),
      'aud with a fragment': token({ aud: `${aud}#x` }),
      'aud by another name': token({ aud: aud.replace('127.0.0.1', 'localhost') }),
      'aud an object': token({ aud: { [aud]: true } }),
      'aud nested': token({ aud: [[aud]] }),
      'aud none': token({ aud: undefined }),
      'aud empty': token({ aud: [] }),
      'aud and a space': token({ aud: `${aud} other` }),
      'iss with a slash': token({ iss: `${issuer.origin}/` }),
      'iss a list': token({ iss: [issuer.origin] }),
      'iss none': token({ iss: undefined }),
      'exp a text': token({ exp: String(nowS + 600) }),
      'exp null': token({ exp: null }),
      'exp of the past': token({ exp: nowS - 31 }),
      'exp negative': token({ exp: -1 }),
      'nbf a text': token({ nbf: 'x' }),
      'nbf later': token({ nbf: nowS + 600 }),
      'sub none': token({ sub: undefined }),
      'scope none': token({ scope: undefined }),
      'scope with a tab': token({ scope: 'x\ttools:all' }),
      'scope in other case': token({ scope: 'TOOLS:ALL' }),
      'scope longer': token({ scope: 'tools:allx tools:al' }),
      'scope a list in a list': token({ scope: undefined, scp: [['tools:all']] }),
      'scope an object': token({ scope: { 'tools:all': true } }),
      crit: token({}, { crit: ['exp'], exp: 1 }),
      'crit unknown': token({}, { crit: ['x'], x: 1 }),
      'b64 false': token({}, { b64: false, crit: ['b64'] }),
      'alg none': `${encodePart({ alg: 'none' })}.${body}.`,
      'alg none with a signature': `${encodePart({ alg: 'none' })}.${body}.${signature}`,
      'alg None': `${encodePart({ alg: 'None', kid: 'key-1' })}.${body}.${signature}`,
      'alg a list': `${encodePart({ alg: ['RS256'], kid: 'key-1' } as never)}.${body}.${signature}`,
      'alg of another family': token({}, { alg: 'ES256' }),
      'alg other hash': token({}, { alg: 'RS512' }),
      'hs256 with the key': hs(pem),
      'hs256 with the key set': hs(JSON.stringify(keys.keySet)),
      'hs256 with the modulus': hs(Buffer.from(String(jwk.n), 'base64url')),
      'hs256 empty': hs(''),
      'kid a path': other.sign(claims(), { kid: '../../../../dev/null' }),
      'kid of the prototype': other.sign(claims(), { kid: '__proto__' }),
      'kid none, of another': other.sign(claims(), { kid: undefined }),
      jku: other.sign(claims(), { kid: 'key-1', jku: `${issuer.origin}/jwks` }),
      x5u: other.sign(claims(), { kid: 'key-1', x5u: `${issuer.origin}/jwks` }),
      jwk: other.sign(claims(), { kid: 'key-1', jwk: other.keySet.keys[0] ?? {} }),
      nested: keys.sign({}, { cty: 'JWT' }).replace(body, Buffer.from(token()).toString('base64url')),
      padding: `${head}=.${body}.${signature}`,
      'more parts': `${head}.${body}.${signature}.${signature}`,
      'no signature': `${head}.${body}.`,
      'signature twice': `${head}.${body}.${signature}${signature}`,
      'claims a list': raw(`[${JSON.stringify(claims())}]`),
      'claims twice, the bad one last': raw(JSON.stringify(claims()).replace('}', `,"aud":"https://other.test"}`)),
      deflated: `${token({}, { zip: 'DEF' })}x`,
      large: `${token({ padding: 'x'.repeat(12_000) })}x`,
    };
    const found: Record<string, number> = {};
    await Promise.all(
      Object.entries(odd).map(async ([what, one]) => {
        const status = await knock(hub, one);
        if (![401, 403].includes(status)) found[what] = status;
      }),
    );
    expect(found).toEqual({});
    // Of these two the meaning is plain, and ours.
    expect(await knock(hub, token({ aud: ['https://other.test', aud] }))).toBe(200);
    expect(await knock(hub, token({ exp: nowS + 600, nbf: nowS + 20 }))).toBe(200);
  });

  it('is told in each refusal where the metadata are, and finds them at both addresses', { tags: ['P-364'] }, async () => {
    const { hub, issuer } = opened;
    const paths = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];
    for (const path of paths)
      expect(await (await hub.request(path)).json()).toMatchObject({
        resource: `${hub.url}/mcp`,
        authorization_servers: [issuer.origin],
        scopes_supported: ['tools:all'],
      });
    for (const token of [undefined, 'a.b.c']) {
      const { status, headers } = await hub.request('/mcp', { body: initialize, headers: accept, ...(token && { token }) });
      expect([status, headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining(`resource_metadata="${hub.url}${paths[1]}"`),
      ]);
    }
  });

  it('opens no other door', async () => {
    const { hub, token } = opened;
    const good = token();
    expect(await knock(hub, good)).toBe(200);
    for (const [method, path] of [
      ['GET', '/api/v1/mcp/proxy/servers'],
      ['GET', '/api/v1/mcp/proxy/bindings/python.tar.gz'],
      ['POST', '/api/v1/mcp/proxy/calls/tools/echo'],
      ['GET', '/api/v1/owner/servers'],
      ['POST', '/api/v1/exchange'],
    ] as const) {
      const response = await hub.request(path, { token: good, method, ...(method === 'POST' && { body: { arguments: {} } }) });
      await response.text();
      expect([path, response.status]).toEqual([path, expect.toSatisfy((status: number) => status >= 400)]);
    }
    // What anyone may see shows no more.
    for (const path of ['/openapi.json', '/health', '/api/v1/mcp/proxy/health'])
      expect(await (await hub.request(path, { token: good })).text()).toBe(await (await hub.request(path)).text());
    const huge = await hub.request('/mcp', { body: initialize, headers: accept, token: `${'a'.repeat(1 << 20)}.b.c` }).then(
      async (response) => {
        await response.text();
        return response.status;
      },
      () => 431,
    );
    expect([401, 431]).toContain(huge);
    expect(await knock(hub, hub.ownerToken)).toBe(200);
  });
});
