import type { Socket } from 'node:net';
import { EntryGate, type EntryVerdict, type TypedCodes } from '@notebridge/system/net/entry-gate';
import { createSecret, hashSecret, isSecret } from '../../identity/secret.js';

export interface ConsoleSessionsOptions {
  /** Receives each code and token as it is made, so that no log shows it. */
  addSecret: (secret: string) => void;
  /** Codes for tabs of other users and machines. Default: there are none, and no such tab. */
  typed?: TypedCodes | undefined;
  /** A clock that is never set back, in milliseconds. Default: that of the process. */
  now?: (() => number) | undefined;
}

/** How long a tab stays signed in. Milliseconds. */
const sessionMs = 12 * 60 * 60_000;
/** Tabs that are signed in at once; the oldest goes. */
const mostSessions = 64;
const bearer = /^Bearer +(\S{1,100})$/i;

/**
 * Who has the console open. A person gets a code in an address, which opens it once, and the tab a token of its own for that: the
 * owner's token never reaches a browser, and what a tab holds ends with the hub. Only digests are kept.
 */
export class ConsoleSessions {
  readonly #gate: EntryGate;
  readonly #addSecret: (secret: string) => void;
  readonly #now: () => number;
  /** When each ends, by the digest of its token. */
  readonly #open = new Map<string, number>();

  constructor({ addSecret, typed, now = () => performance.now() }: ConsoleSessionsOptions) {
    this.#addSecret = addSecret;
    this.#now = now;
    this.#gate = new EntryGate({ typed, now });
  }

  /** A code that signs one tab in, within 15 minutes, or so many milliseconds. */
  newCode(lifeMs?: number): string {
    const code = this.#gate.issue(lifeMs);
    this.#addSecret(code);
    return code;
  }

  /** The token for a code that is good; else what is wrong with it. */
  async enter(authorization: string | undefined, socket: Socket): Promise<{ token: string } | { fault: Exclude<EntryVerdict, 'good'> }> {
    const verdict = await this.#gate.redeem(tokenOf(authorization), socket);
    if (verdict !== 'good') return { fault: verdict };
    const token = createSecret('nbc_');
    this.#addSecret(token);
    this.#open.set(hashSecret(token), this.#now() + sessionMs);
    const [oldest] = this.#open.keys();
    if (this.#open.size > mostSessions && oldest !== undefined) this.#open.delete(oldest);
    return { token };
  }

  /** True for the token of a tab that is signed in. */
  has(token: string): boolean {
    const endsAt = isSecret(token, 'nbc_') ? this.#open.get(hashSecret(token)) : undefined;
    return endsAt !== undefined && this.#now() < endsAt;
  }

  /** Signs a tab out. Twice is harmless. */
  leave(authorization: string | undefined): void {
    this.#open.delete(hashSecret(tokenOf(authorization)));
  }
}

function tokenOf(authorization = ''): string {
  return bearer.exec(authorization)?.[1] ?? '';
}
