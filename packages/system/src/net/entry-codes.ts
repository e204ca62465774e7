import { createHash } from 'node:crypto';
import { createToken } from '@notebridge/protocol/util/token';

/** How long a code waits for who opens its address by hand. Milliseconds. */
export const codeLifeMs = 15 * 60_000;
/** And for a browser that is started with it, and opens it at once. Milliseconds. */
export const openedLifeMs = 60_000;
/** Codes that wait, and those that are remembered as used or too old. The oldest goes. */
const maxCodes = 64;

export type CodeVerdict = 'good' | 'used' | 'expired' | 'unknown';

/**
 * Codes that open one window each, once. They stand in an address, and an address stays in a browser's history: what is found there later
 * opens nothing. Only their digests are kept.
 */
export class EntryCodes {
  readonly #codes = new Map<string, { expiresAtMs: number; isUsed: boolean }>();
  readonly #now: () => number;

  /** `now`: a clock that is never set back, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  issue(lifeMs = codeLifeMs): string {
    const code = createToken();
    this.#codes.set(digestOf(code), { expiresAtMs: this.#now() + lifeMs, isUsed: false });
    const [oldest] = this.#codes.keys();
    if (this.#codes.size > maxCodes && oldest !== undefined) this.#codes.delete(oldest);
    return code;
  }

  /** A good code is used up by it. Looked up by its digest, so the time it takes reveals nothing about the code. */
  redeem(code: string): CodeVerdict {
    const known = this.#codes.get(digestOf(code));
    if (!known) return 'unknown';
    if (known.isUsed) return 'used';
    if (this.#now() > known.expiresAtMs) return 'expired';
    known.isUsed = true;
    return 'good';
  }
}

function digestOf(code: string): string {
  return createHash('sha256').update(code).digest('base64url');
}
