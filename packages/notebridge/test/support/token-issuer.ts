import { constants, generateKeyPairSync, type KeyObject, type SignKeyObjectInput, sign } from 'node:crypto';
import type { JsonObject } from '@notebridge/protocol/json';

export interface TokenIssuer {
  /** The public keys, as a cluster publishes them. */
  keySet: { keys: JsonObject[] };
  /** What it signs with. */
  privateKey: KeyObject;
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
    privateKey,
    sign: (claims = {}, header = {}) =>
      signToken({ alg: algorithm, kid: keyId, ...header }, { ...podClaims(), ...claims }, { key: privateKey }),
  };
}

/** The claims of a pod that is in order. */
export function podClaims(): JsonObject {
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

/** A token with a true signature of the key, whatever its header says. `hash`: default SHA-256; null for keys that have their own. */
export function signToken(header: JsonObject, claims: JsonObject, { hash = 'sha256', ...key }: SigningKey): string {
  const signed = `${encodePart(header)}.${encodePart(claims)}`;
  return `${signed}.${sign(hash, Buffer.from(signed), { dsaEncoding: 'ieee-p1363', ...key }).toString('base64url')}`;
}

export type SigningKey = SignKeyObjectInput & { hash?: string | null };

/** What makes a signature of RSA one with PSS. */
export const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };

export function encodePart(part: JsonObject): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
