import type { Socket } from 'node:net';
import { type CodeVerdict, EntryCodes } from './entry-codes.js';
import { isLoopback, isOwnPeer, userOfPeer } from './peer-user.js';

/** `other_user`: the address is not for who has come by it; they type a code. */
export type EntryVerdict = CodeVerdict | 'other_user';

/** Codes that are shown in a terminal and typed into a form: they stand in no address. */
export interface TypedCodes {
  redeem(text: string): CodeVerdict;
}

export interface EntryGateOptions {
  /** Left out: who is not this user does not get in. */
  typed?: TypedCodes | undefined;
  /** A clock that is never set back, in milliseconds. Default: that of the process. */
  now?: (() => number) | undefined;
}

/** A code of an address is longer. */
const longestTyped = 32;

/**
 * Decides who may open something by an address. Where a browser is started, its address stands in a list of arguments, which every user of
 * the machine reads. So an address opens something for programs of this user alone; others, and who comes from elsewhere, type a code.
 */
export class EntryGate {
  readonly #codes: EntryCodes;
  readonly #typed: TypedCodes | undefined;
  /** Users of this machine that have typed a code: this person's browser runs as them. */
  readonly #welcome = new Set<number>();

  constructor({ typed, now }: EntryGateOptions = {}) {
    this.#typed = typed;
    this.#codes = new EntryCodes(now);
  }

  /** A code for an address, good once. `lifeMs`: default 15 minutes. */
  issue(lifeMs?: number): string {
    return this.#codes.issue(lifeMs);
  }

  /** A good code is used up by it; one of an address not by who it is not for. */
  async redeem(code: string, socket: Socket): Promise<EntryVerdict> {
    if (code.length > longestTyped) return (await isOwnPeer(socket)) ? this.#codes.redeem(code) : 'other_user';
    const verdict = this.#typed?.redeem(code) ?? 'unknown';
    if (verdict !== 'good') return verdict;
    const user = await userOfPeer(socket);
    if (typeof user === 'number') this.#welcome.add(user);
    return 'good';
  }

  /** False for another user of this machine, who may know the address of a page. Other machines read no arguments here. */
  async admits(socket: Socket): Promise<boolean> {
    if (await isOwnPeer(socket)) return true;
    const user = await userOfPeer(socket);
    return user === 'elsewhere' ? !isLoopback(socket.remoteAddress) : typeof user === 'number' && this.#welcome.has(user);
  }
}
