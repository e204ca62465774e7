import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits, safe in a URL. */
export function createToken(): string {
  return randomBytes(32).toString('base64url');
}

/** By which a token can be recognised, and not be had: SHA-256. Only for tokens of `createToken`, which nobody can guess. */
export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Compares in constant time; digests make the lengths equal, so not even the length leaks. */
export function isSameToken(given: string, expected: string): boolean {
  return isSameDigest(digestOf(given), digestOf(expected));
}

/** Compares digests of `digestOf` in constant time. */
export function isSameDigest(given: Buffer, expected: Buffer): boolean {
  return timingSafeEqual(given, expected);
}
