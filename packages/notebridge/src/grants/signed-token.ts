import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../util/json.js';

/** A JSON Web Token as it was sent: nobody has vouched for it yet. */
export interface SignedToken {
  algorithm: 'RS256' | 'ES256';
  keyId: string;
  claims: JsonObject;
  /** What the signature is of. */
  signed: string;
  signature: Buffer;
}

/** Tokens of a cluster have about 1,200 characters. */
const maxLength = 16_384;
const form = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;
/** What Kubernetes signs with. A list of ours: what the token itself names decides nothing. */
const keyTypes = { RS256: 'rsa', ES256: 'ec' } as const;
const leastRsaBits = 2048;

/** Reads a token. Undefined for what is none, or is signed in a way that we do not take. */
export function parseSignedToken(text: string): SignedToken | undefined {
  if (text.length > maxLength) return undefined;
  const [, head = '', body = '', signature = ''] = form.exec(text) ?? [];
  const [header, claims] = [decode(head), decode(body)];
  if (header === undefined || claims === undefined) return undefined;
  const { alg, kid, crit } = header;
  // `crit` names extensions that a reader has to understand; we know none.
  if ((alg !== 'RS256' && alg !== 'ES256') || typeof kid !== 'string' || crit !== undefined) return undefined;
  return { algorithm: alg, keyId: kid, claims, signed: `${head}.${body}`, signature: Buffer.from(signature, 'base64url') };
}

/** True if one of the keys of the set, which must carry the name that the token gives, has signed it. */
export function isSignedBy({ algorithm, keyId, signed, signature }: SignedToken, keySet: unknown): boolean {
  const keys = isJsonObject(keySet) && Array.isArray(keySet.keys) ? keySet.keys : [];
  return keys.some((jwk: unknown) => {
    if (!isJsonObject(jwk) || jwk.kid !== keyId) return false;
    const key = toKey(jwk);
    if (key === undefined || !fits(key, algorithm)) return false;
    return verify('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, signature);
  });
}

function toKey(jwk: JsonObject): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function fits({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject, algorithm: SignedToken['algorithm']): boolean {
  if (asymmetricKeyType !== keyTypes[algorithm]) return false;
  const { modulusLength = 0, namedCurve } = asymmetricKeyDetails;
  return algorithm === 'RS256' ? modulusLength >= leastRsaBits : namedCurve === 'prime256v1';
}

function decode(part: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
