import { hash, randomBytes } from 'node:crypto';

const randomPart = 32;
const printed = /^[\w-]{43}$/;

/** What kind of secret it is, so that a person who finds one knows, and a token of one kind is never looked up as another. */
export type SecretPrefix = 'nbg_' | 'nbo_' | 'nbc_';

/** A new secret: its prefix and 256 random bits, safe in a URL. */
export function createSecret(prefix: SecretPrefix): string {
  return prefix + randomBytes(randomPart).toString('base64url');
}

export function isSecret(text: string, prefix: SecretPrefix): boolean {
  return text.startsWith(prefix) && printed.test(text.slice(prefix.length));
}

/** All that is kept of a token. Without salt: nobody can try 2^256 tokens. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}
