import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { BridgeError } from '../../core/errors.js';
import type { Principal } from '../../core/principal.js';
import { FailedTries } from '../../notebooks/pages/failed-tries.js';
import { bearerChallenge, type Refusal, refuse } from './refusal.js';

/**
 * Proves on whose behalf a request comes, by its `Authorization` header. Throws or rejects with `bad_grant` for no or a wrong
 * token; `data.reason` is `wrong_door` for a good token that opens another door.
 */
export type Authenticate = (authorization: string | undefined) => Principal | Promise<Principal>;

/** Refusals that may wait at once; past it they are told to come back later. */
const maxWaiting = 64;

/** Asks for the proof, and slows down whoever guesses tokens: refusals only, so the holder of a right one never waits. */
export class Authenticator {
  readonly #authenticate: Authenticate;
  readonly #failedTries: FailedTries;
  #waiting = 0;

  constructor(authenticate: Authenticate, now?: () => number) {
    this.#authenticate = authenticate;
    this.#failedTries = new FailedTries(now);
  }

  /** Rejects only with faults of ours. */
  check({ headers: { authorization } }: IncomingMessage): Principal | Promise<Principal | Refusal> {
    try {
      const principal = this.#authenticate(authorization);
      return principal instanceof Promise ? principal.catch((error: unknown) => this.#refuse(error, authorization)) : principal;
    } catch (error) {
      return this.#refuse(error, authorization);
    }
  }

  async #refuse(error: unknown, authorization: string | undefined): Promise<Refusal> {
    if (!(error instanceof BridgeError) || error.code !== 'bad_grant') throw error;
    const wasSent = authorization !== undefined;
    const delayMs = wasSent ? this.#failedTries.add() : 0;
    if (delayMs > 0) {
      if (this.#waiting >= maxWaiting) return refuse(429, 'Too many wrong tokens. Try again later.', ['retry-after', '2']);
      this.#waiting++;
      await delay(delayMs, undefined, { ref: false });
      this.#waiting--;
    }
    const { code, message: detail, data } = error;
    if (data.reason === 'wrong_door') return { status: 403, detail, more: { error_code: code } };
    return { status: 401, detail, headers: bearerChallenge(wasSent), more: { error_code: code } };
  }
}
