import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits, safe in a URL. */
export function createToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Compares in constant time; digests make the lengths equal, so not even the length leaks. */
export function isSameToken(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
