// @module-tag P-134
// @module-tag P-180

import { createHmac, createPublicKey } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTokenIssuer, issuerName, subjectName } from '../../test/support/token-issuer.js';
import type { ExchangeRule } from '../config/exchange-rule.js';
import { GrantExchange } from './grant-exchange.js';
import { GrantStore } from './grant-store.js';

const issuer = createTokenIssuer();
let dir: string;
let store: GrantStore;
const rule = (more: Partial<ExchangeRule> = {}): ExchangeRule => ({
  issuer: issuerName,
  audience: 'notebridge',
  subject: subjectName,
  keys: join(dir, 'keys.json'),
  allow: ['github:*'],
  readOnly: false,
  ttlMs: 900_000,
  calls: 5,
  perMinute: undefined,
  concurrent: undefined,
  ...more,
});
const open = (more: Partial<ExchangeRule> = {}): GrantExchange =>
  new GrantExchange({ store, rules: [rule(more)], readKeys: (path) => readFile(path, 'utf8') });
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-exchange-'));
  store = await GrantStore.open({ dir: join(dir, 'state') });
  await writeFile(join(dir, 'keys.json'), JSON.stringify(issuer.keySet));
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

describe('GrantExchange', () => {
  it('gives the grant of the rule for a token that the issuer has signed', async () => {
    const given = await open().exchange(`Bearer ${issuer.sign()}`);
    expect(given).toMatchObject({ allow: ['github:*'], calls: 5, door: 'tools', label: expect.stringContaining(subjectName) });
    expect(given.expiresInS).toBeGreaterThan(890);
    expect(store.find(given.token)).toMatchObject({ id: given.id });
  });

  it('takes ES256 as well, and an audience that is one text', async () => {
    const other = createTokenIssuer('ES256');
    await writeFile(join(dir, 'keys.json'), JSON.stringify(other.keySet));
    await expect(open().exchange(`Bearer ${other.sign({ aud: 'notebridge' })}`)).resolves.toMatchObject({ allow: ['github:*'] });
  });

  it('renews the grant of a pod that comes again, also after a restart and twice at once, so that its budget stays', async () => {
    const first = await open().exchange(`Bearer ${issuer.sign()}`);
    const exchange = open();
    const again = await Promise.all([1, 2].map(() => exchange.exchange(`Bearer ${issuer.sign()}`)));
    expect(again.map(({ id }) => id)).toEqual([first.id, first.id]);
    expect(new Set([first.token, ...again.map(({ token }) => token)]).size).toBe(3);
    expect(store.list()).toHaveLength(1);
  });

  it('gives another pod of the same account a grant of its own', async () => {
    const exchange = open();
    const pod = { pod: { name: 'jupyter-1', uid: 'other' } };
    const [one, two] = [
      await exchange.exchange(`Bearer ${issuer.sign()}`),
      await exchange.exchange(`Bearer ${issuer.sign({ 'kubernetes.io': pod })}`),
    ];
    expect(one.id).not.toBe(two.id);
  });

  it('ends what a rule allowed before it was changed', async () => {
    const before = await open().exchange(`Bearer ${issuer.sign()}`);
    const after = await open({ allow: ['github:list_*'] }).exchange(`Bearer ${issuer.sign()}`);
    expect(store.find(before.token)).toBe('revoked');
    expect(store.find(after.token)).toMatchObject({ allow: ['github:list_*'] });
  });

  const stranger = createTokenIssuer();
  const weak = createTokenIssuer('RS256', 'key-1', 1024);
  const nowS = Math.floor(Date.now() / 1000);
  const [head = '', body = ''] = issuer.sign().split('.');
  const pem = createPublicKey({ key: issuer.keySet.keys[0] ?? {}, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const hmacHead = encode({ alg: 'HS256', kid: 'key-1' });
  it.each<[string, string | undefined, string]>([
    ['no token', undefined, 'missing'],
    ['what is no signed token', 'Bearer nbg_abc', 'malformed'],
    ['a token without a signature', `Bearer ${encode({ alg: 'none', kid: 'key-1' })}.${body}.`, 'malformed'],
    [
      'a token whose own header says that the public key is a password',
      `Bearer ${hmacHead}.${body}.${createHmac('sha256', pem).update(`${hmacHead}.${body}`).digest('base64url')}`,
      'malformed',
    ],
    ['a token with an extension that we do not know', `Bearer ${issuer.sign({}, { crit: ['b64'] })}`, 'malformed'],
    ['a token of 20,000 characters', `Bearer ${issuer.sign({ more: 'x'.repeat(20_000) })}`, 'malformed'],
    ['a token of an unknown issuer with the name of a key', `Bearer ${stranger.sign()}`, 'unknown'],
    ['a token whose claims were changed', `Bearer ${head}.${stranger.sign().split('.')[1]}x.${issuer.sign().split('.')[2]}`, 'malformed'],
    ['a token of a key that is not in the set', `Bearer ${issuer.sign({}, { kid: 'key-2' })}`, 'unknown'],
    ['a token of another issuer', `Bearer ${issuer.sign({ iss: 'https://other.test' })}`, 'unknown'],
    ['a token for another audience', `Bearer ${issuer.sign({ aud: ['https://kubernetes.default.svc'] })}`, 'unknown'],
    ['a token of another account', `Bearer ${issuer.sign({ sub: `${subjectName}2` })}`, 'unknown'],
    ['a token that has expired', `Bearer ${issuer.sign({ exp: nowS - 1 })}`, 'expired'],
    ['a token that is not valid yet', `Bearer ${issuer.sign({ nbf: nowS + 600 })}`, 'expired'],
    ['a token without an end', `Bearer ${issuer.sign({ exp: undefined })}`, 'unknown'],
    ['a token that ends in a text', `Bearer ${issuer.sign({ exp: '99999999999' })}`, 'unknown'],
  ])('refuses %s, and issues nothing', async (_, authorization, reason) => {
    await expect(open().exchange(authorization)).rejects.toMatchObject({ code: 'bad_grant', data: { reason } });
    expect(store.list()).toEqual([]);
  });

  it('refuses a key that is too short, and all tokens when the keys cannot be read', async () => {
    await writeFile(join(dir, 'keys.json'), JSON.stringify(weak.keySet));
    await expect(open().exchange(`Bearer ${weak.sign()}`)).rejects.toMatchObject({ code: 'bad_grant' });
    await writeFile(join(dir, 'keys.json'), '{"keys":');
    await expect(open().exchange(`Bearer ${issuer.sign()}`)).rejects.toMatchObject({ code: 'bad_grant' });
    await rm(join(dir, 'keys.json'));
    await expect(open().exchange(`Bearer ${issuer.sign()}`)).rejects.toMatchObject({ code: 'bad_grant' });
    // Another one works at once: nothing is remembered.
    await writeFile(join(dir, 'keys.json'), JSON.stringify(issuer.keySet));
    await expect(open().exchange(`Bearer ${issuer.sign()}`)).resolves.toBeDefined();
  });

  it('refuses rules that no grant can have, before any token comes', () => {
    expect(() => open({ allow: [':x'] })).toThrow(/names no server/);
  });
});
