import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { CryptoKey, JSONWebKeySet, JWTPayload, JWTVerifyOptions } from 'jose';

/** A JSON Web Token as it was sent: not verified yet. */
export interface SignedToken {
  text: string;
  keyId: string;
  claims: JsonObject;
}

/** Why a token is not taken: `expired` may be shown to the caller, `why` belongs in the log. */
export interface TokenFault {
  reason: 'expired' | 'unknown';
  why: string;
}

export interface TokenProof {
  /** What should be a JSON Web Key Set. */
  keySet: unknown;
  /** Milliseconds since the epoch. */
  nowMs: number;
}

/** Tokens of a cluster have about 1,200 characters. */
const maxLength = 16_384;
/** What Kubernetes signs with. A list of ours: what the token itself names decides nothing. */
const algorithms = ['RS256', 'ES256'];
/** How long a token may live, from `iat` to `exp`; kubelet renews those of a pod after 24 hours at the latest. Seconds. */
const maxLifeS = 86_400;
/** Clocks of two machines may differ by so much. Seconds. */
const leewayS = 60;
const noSuchKey = new Set(['ERR_JWKS_NO_MATCHING_KEY', 'ERR_JWKS_INVALID', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED']);

/** Reads a token. Undefined for what is none, or is signed or meant in a way that we do not take. */
export async function readSignedToken(text: string): Promise<SignedToken | undefined> {
  if (text.length > maxLength) return undefined;
  const { decodeJwt, decodeProtectedHeader } = await import('jose');
  try {
    const { alg, kid, crit, typ } = decodeProtectedHeader(text);
    // `crit` names extensions that a reader has to understand; we know none.
    if (!algorithms.includes(alg ?? '') || typeof kid !== 'string' || crit !== undefined || !isPlainType(typ)) return undefined;
    return { text, keyId: kid, claims: decodeJwt(text) };
  } catch {
    return undefined;
  }
}

/** Undefined if a key of the set, which must carry the name that the token gives, has signed it and it is valid now. */
export async function findTokenFault({ text }: SignedToken, { keySet, nowMs }: TokenProof): Promise<TokenFault | undefined> {
  const options = {
    algorithms,
    requiredClaims: ['exp', 'iat'],
    clockTolerance: leewayS,
    maxTokenAge: maxLifeS,
    currentDate: new Date(nowMs),
  };
  try {
    const { exp = 0, iat = 0 } = await verify(text, keySet as JSONWebKeySet, options);
    if (exp * 1000 <= nowMs) return { reason: 'expired', why: 'it has expired' };
    if (exp - iat > maxLifeS) return { reason: 'unknown', why: `it lives longer than ${maxLifeS} s: have one issued that ends sooner` };
    return undefined;
  } catch (error) {
    return toFault(error);
  }
}

/** The claims. Rejects with an error of the library's. */
async function verify(text: string, keySet: JSONWebKeySet, options: JWTVerifyOptions): Promise<JWTPayload> {
  const { createLocalJWKSet, jwtVerify } = await import('jose');
  try {
    return (await jwtVerify(text, createLocalJWKSet(keySet), options)).payload;
  } catch (error) {
    if (!isAmbiguous(error)) throw error;
    let last: unknown = error;
    // Several keys have this name: an issuer that rotates keys may keep it.
    for await (const key of error) {
      try {
        return (await jwtVerify(text, key, options)).payload;
      } catch (next) {
        last = next;
      }
    }
    throw last;
  }
}

function isAmbiguous(error: unknown): error is AsyncIterable<CryptoKey> {
  return isJsonObject(error) && error.code === 'ERR_JWKS_MULTIPLE_MATCHING_KEYS';
}

function toFault(error: unknown): TokenFault {
  const { code, reason } = isJsonObject(error) ? error : {};
  if (noSuchKey.has(String(code))) return { reason: 'unknown', why: 'no key of the set has signed it' };
  // Of claims only times are checked here, and of times only whether they fit into now.
  const isOfTime = code === 'ERR_JWT_EXPIRED' || (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED' && reason === 'check_failed');
  return { reason: isOfTime ? 'expired' : 'unknown', why: messageOf(error) };
}

/** Kubernetes names no type; others say that it is a JWT. One for another use, such as `at+jwt`, says so. */
function isPlainType(typ: unknown): boolean {
  return typ === undefined || (typeof typ === 'string' && /^(application\/)?jwt$/i.test(typ));
}
