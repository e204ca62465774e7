// @module-tag P-180

import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createTokenIssuer, encodePart, podClaims, pss, type SigningKey, signToken } from '../../test/support/token-issuer.js';
import { findTokenFault, readSignedToken } from './signed-token.js';

const rsa = createTokenIssuer();
const ec = createTokenIssuer('ES256', 'key-2');
const stranger = createTokenIssuer();
const ed = generateKeyPairSync('ed25519');
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const jwkOf = (key: typeof ed.publicKey, more: JsonObject): JsonObject => ({ ...key.export({ format: 'jwk' }), ...more });
const secret = { kty: 'oct', k: Buffer.from('a'.repeat(32)).toString('base64url'), kid: 'oct' };
const keySet = {
  keys: [
    ...rsa.keySet.keys,
    ...ec.keySet.keys,
    jwkOf(ed.publicKey, { kid: 'ed' }),
    jwkOf(p384.publicKey, { kid: 'p384' }),
    secret,
    { ...rsa.keySet.keys[0], kid: 'to-encrypt', use: 'enc' },
    { ...rsa.keySet.keys[0], kid: 'to-wrap', use: undefined, key_ops: ['wrapKey'] },
    jwkOf(rsa.privateKey, { kid: 'private' }),
    { ...rsa.keySet.keys[0], kid: 'pss-only', alg: 'PS256' },
  ],
};
const nowS = Math.floor(Date.now() / 1000);
const day = 86_400;
const forge = (header: JsonObject, key: SigningKey = { key: rsa.privateKey }, claims: JsonObject = {}): string =>
  signToken({ alg: 'RS256', kid: 'key-1', ...header }, { ...podClaims(), ...claims }, key);
const pem = createPublicKey(rsa.privateKey).export({ type: 'spki', format: 'pem' });
const hmac = (kid: string, password: string | Buffer): string => {
  const signed = `${encodePart({ alg: 'HS256', kid })}.${encodePart(podClaims())}`;
  return `${signed}.${createHmac('sha256', password).update(signed).digest('base64url')}`;
};
const [head = '', body = '', signature = ''] = rsa.sign().split('.');

describe('readSignedToken', () => {
  it.each<[string, string]>([
    ['nothing', ''],
    ['a grant', 'nbg_abc'],
    ['two parts', `${head}.${body}`],
    ['four parts', `${rsa.sign()}.x`],
    ['five parts, as of an encrypted one', `${rsa.sign()}.x.y`],
    ['alg none, no signature', `${encodePart({ alg: 'none', kid: 'key-1' })}.${body}.`],
    ['alg None, a signature', `${encodePart({ alg: 'None', kid: 'key-1' })}.${body}.${signature}`],
    ['no alg', forge({ alg: undefined })],
    ['alg as a list', forge({ alg: ['RS256'] })],
    ['HS256 with the public key as its password', hmac('key-1', pem as string)],
    ['HS256 with the modulus as its password', hmac('key-1', Buffer.from(String(rsa.keySet.keys[0]?.n), 'base64url'))],
    ['HS256 with a secret that stands in the key set', hmac('oct', 'a'.repeat(32))],
    ['PS256, truly signed', forge({ alg: 'PS256' }, { key: rsa.privateKey, ...pss })],
    ['RS512, truly signed', forge({ alg: 'RS512' }, { key: rsa.privateKey, hash: 'sha512' })],
    ['ES384, truly signed', forge({ alg: 'ES384', kid: 'p384' }, { key: p384.privateKey, hash: 'sha384' })],
    ['EdDSA, truly signed', forge({ alg: 'EdDSA', kid: 'ed' }, { key: ed.privateKey, hash: null })],
    ['no kid', forge({ kid: undefined })],
    ['a kid that is a number', forge({ kid: 1 })],
    ['an extension that must be understood', forge({ crit: ['exp'], exp: nowS })],
    ['an empty list of extensions', forge({ crit: [] })],
    ['a payload that is not encoded', forge({ crit: ['b64'], b64: false })],
    ['a token for another use', forge({ typ: 'at+jwt' })],
    ['a type that is no text', forge({ typ: ['JWT'] })],
    ['claims that are a list', `${head}.${Buffer.from('[]').toString('base64url')}.${signature}`],
    ['a header that is no JSON', `${Buffer.from('{').toString('base64url')}.${body}.${signature}`],
    ['more than 16,384 characters', forge({}, undefined, { more: 'x'.repeat(20_000) })],
  ])('takes no %s', async (_, text) => {
    expect(await readSignedToken(text)).toBeUndefined();
  });

  it.each(['JWT', 'jwt', 'application/jwt', undefined])('takes the type %s', async (typ) => {
    expect(await readSignedToken(forge({ typ }))).toMatchObject({ keyId: 'key-1', claims: { aud: ['notebridge'] } });
  });
});

describe('findTokenFault', () => {
  const faultOf = async (text: string, set: unknown = keySet) => {
    const token = await readSignedToken(text);
    return token === undefined ? 'malformed' : findTokenFault(token, { keySet: set, nowMs: nowS * 1000 });
  };

  it('finds none in what a key of the set has signed', async () => {
    expect(await faultOf(rsa.sign())).toBeUndefined();
    expect(await faultOf(ec.sign())).toBeUndefined();
    // As in the hour in which a cluster changes its keys without changing their name.
    const twice = { keys: [...stranger.keySet.keys, ...rsa.keySet.keys] };
    expect(await faultOf(rsa.sign(), twice)).toBeUndefined();
    expect(await faultOf(createTokenIssuer().sign(), twice)).toMatchObject({ reason: 'unknown' });
  });

  it.each<[string, string]>([
    ['an unknown issuer under the name of a key', stranger.sign()],
    ['an unknown issuer that brings the key along', forge({ jwk: stranger.keySet.keys[0] }, { key: stranger.privateKey })],
    ['an unknown issuer that says where the key is', forge({ jku: 'http://127.0.0.1:1/keys' }, { key: stranger.privateKey })],
    ['nobody: the signature is empty', `${head}.${body}.`],
    ['nobody: the signature is short', `${head}.${body}.${signature.slice(0, 40)}`],
    ['somebody before the claims were changed', `${head}.${encodePart({ ...podClaims(), calls: 9 })}.${signature}`],
    ['somebody before the header was changed', `${encodePart({ alg: 'RS256', kid: 'key-1', typ: 'JWT' })}.${body}.${signature}`],
    ['an RSA key under the name of an EC key', forge({ alg: 'ES256', kid: 'key-2' })],
    ['an EC key that is called RS256', forge({ kid: 'key-2' }, { key: ec.privateKey })],
    ['an EC key of another curve', forge({ alg: 'ES256', kid: 'p384' }, { key: p384.privateKey })],
    ['an EC key in the other form', forge({ alg: 'ES256', kid: 'key-2' }, { key: ec.privateKey, dsaEncoding: 'der' })],
    ['the key with PSS', forge({}, { key: rsa.privateKey, ...pss })],
    ['the key with another hash', forge({}, { key: rsa.privateKey, hash: 'sha1' })],
    ['a key that is not in the set', forge({ kid: 'key-9' })],
    ['a key with a path for its name', forge({ kid: '../../../../dev/null' })],
    ['a key that is for encryption', forge({ kid: 'to-encrypt' })],
    ['a key that is for wrapping', forge({ kid: 'to-wrap' })],
    ['a key that is for another algorithm', forge({ kid: 'pss-only' })],
    ['a key that stands in the set with its private half', forge({ kid: 'private' })],
  ])('finds one in what was signed by %s', async (_, text) => {
    expect(await faultOf(text)).toMatchObject({ reason: 'unknown' });
  });

  it('finds one in what was signed by a key of 1024 bits', async () => {
    const weak = createTokenIssuer('RS256', 'key-1', 1024);
    expect(await faultOf(weak.sign(), weak.keySet)).toMatchObject({ reason: 'unknown' });
  });

  it.each([undefined, null, 'keys', {}, { keys: 'x' }, { keys: [1] }, { keys: [{ kty: 'RSA', kid: 'key-1' }] }, [rsa.keySet.keys]])(
    'finds one where the key set is %j',
    async (set) => {
      expect(await faultOf(rsa.sign(), set ?? null)).toMatchObject({ reason: 'unknown' });
    },
  );

  it.each<[string, JsonObject, string | undefined]>([
    ['ends in a second', { exp: nowS + 1 }, undefined],
    ['has ended this second', { exp: nowS }, 'expired'],
    ['has ended before it began', { exp: nowS + 100, iat: nowS + 200, nbf: nowS }, 'expired'],
    ['has no end', { exp: undefined }, 'unknown'],
    ['ends in a text', { exp: String(nowS + 100) }, 'unknown'],
    ['never ends', { exp: 1e300 }, 'unknown'],
    ['lives for a day', { exp: nowS + day }, undefined],
    ['lives for more than a day', { exp: nowS + day + 1 }, 'unknown'],
    ['has no time of issue', { iat: undefined }, 'unknown'],
    ['was issued at a text', { iat: String(nowS) }, 'unknown'],
    ['was issued by a clock that is 60 s ahead', { iat: nowS + 60, nbf: nowS + 60 }, undefined],
    ['was issued in the future', { iat: nowS + 61 }, 'expired'],
    ['was issued long ago', { iat: 1 }, 'expired'],
    ['is not valid yet', { nbf: nowS + 61 }, 'expired'],
    ['is valid from a text on', { nbf: 'now' }, 'unknown'],
    ['is valid from no time on', { nbf: undefined }, undefined],
  ])('the fault of a token that %s is found', async (_, times, reason) => {
    const fault = await faultOf(rsa.sign({ iat: nowS, nbf: nowS, ...times }));
    expect(fault === undefined || typeof fault === 'string' ? fault : fault.reason).toBe(reason);
  });
});
