import { createHmac, randomBytes } from 'node:crypto';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import { isSameToken } from '@notebridge/protocol/util/token';
import { type ChallengeAnswer, isWindowNonce, type ProofInput, proofText } from '../viewer/window-proof.js';

/** A page opens its socket at once. Milliseconds. */
const lifeMs = 30_000;
/** Nonces that wait for their window; the oldest goes. */
const maxWaiting = 1024;

/** Proves to pages that this host knows the windows' key, and lets in those that prove the same: `viewer/window-proof.ts`. */
export class WindowTickets {
  readonly #key: string;
  readonly #now: () => number;
  readonly #waiting = new Map<string, { theirs: string; origin: string; expiresAtMs: number }>();

  /** `now`: a clock that is never set back, in milliseconds. */
  constructor(key: string, now: () => number = () => performance.now()) {
    this.#key = key;
    this.#now = now;
  }

  /** Undefined for what is no nonce. `origin`: of the page, which was checked. */
  answer(theirs: string, origin: string): ChallengeAnswer | undefined {
    if (!isWindowNonce(theirs)) return undefined;
    const nonce = randomBytes(24).toString('base64url');
    keepLatest(this.#waiting, [nonce, { theirs, origin, expiresAtMs: this.#now() + lifeMs }], maxWaiting);
    return { nonce, proof: this.#sign({ side: 'host', origin, nonces: [theirs, nonce] }) };
  }

  /** True once for a ticket of a page of this origin. */
  redeem(ticket: string, origin: string): boolean {
    const [theirs = '', nonce = '', proof = ''] = ticket.split('.');
    const waiting = this.#waiting.get(nonce);
    this.#waiting.delete(nonce);
    if (waiting?.theirs !== theirs || waiting.origin !== origin || this.#now() > waiting.expiresAtMs) return false;
    return isSameToken(proof, this.#sign({ side: 'window', origin, nonces: [theirs, nonce] }));
  }

  #sign(input: ProofInput): string {
    return createHmac('sha256', this.#key).update(proofText(input)).digest('base64url');
  }
}
