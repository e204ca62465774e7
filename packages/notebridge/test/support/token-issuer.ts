import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { JsonObject } from '../../src/util/json.js';

export interface TokenIssuer {
  /** The public keys, as a cluster publishes them. */
  keySet: { keys: JsonObject[] };
  /** A token with these claims over those of a pod that is in order. */
  sign(claims?: JsonObject, header?: JsonObject): string;
}

export const issuerName = 'https://cluster.test';
export const subjectName = 'system:serviceaccount:lab:jupyter';

/** Signs tokens as a Kubernetes cluster does. */
export function createTokenIssuer(algorithm: 'RS256' | 'ES256' = 'RS256', keyId = 'key-1', modulusLength = 2048): TokenIssuer {
  const { privateKey, publicKey } =
    algorithm === 'RS256' ? generateKeyPairSync('rsa', { modulusLength }) : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    keySet: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: keyId, use: 'sig', alg: algorithm }] },
    sign: (claims = {}, header = {}) => signToken({ ...podClaims(), ...claims }, { alg: algorithm, kid: keyId, ...header }, privateKey),
  };
}

function podClaims(): JsonObject {
  const nowS = Math.floor(Date.now() / 1000);
  const pod = { name: 'jupyter-0', uid: '6f0c1a52-0000-4000-8000-000000000001' };
  return {
    iss: issuerName,
    sub: subjectName,
    aud: ['notebridge'],
    exp: nowS + 3600,
    nbf: nowS,
    iat: nowS,
    'kubernetes.io': { namespace: 'lab', pod, serviceaccount: { name: 'jupyter', uid: '1' } },
  };
}

function signToken(claims: JsonObject, header: JsonObject, key: KeyObject): string {
  const encode = (part: JsonObject): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${createSign('sha256').update(signed).sign({ key, dsaEncoding: 'ieee-p1363' }, 'base64url')}`;
}
