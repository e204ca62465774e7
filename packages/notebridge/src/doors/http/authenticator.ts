import type { IncomingMessage } from 'node:http';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { AuthBackoff } from '@notebridge/system/net/auth-backoff';
import { ownConnections } from '@notebridge/system/net/connections';
import { type AuthChallenge, bearerChallenge, type Refusal, refuse } from './refusal.js';

/**
 * Proves on whose behalf a request comes, by its `Authorization` header. Throws or rejects with `bad_grant` for no or a wrong
 * token; `data.reason` is `wrong_door` for a good token that opens another door, `insufficient_scope` for one that opens nothing, `unverified` for one
 * of which nobody can tell now. With `cluster_unavailable` if that is so because the cluster cannot be asked.
 */
export type Authenticate = (authorization: string | undefined) => Principal | Promise<Principal>;

export interface AuthenticatorOptions {
  /** Called for each refusal. Default: not reported. */
  onRefused?: ((request: IncomingMessage, why: { reason: string; grantId?: string | undefined }) => void) | undefined;
  /** What refusals say of an authorization server. Default: nothing. */
  challenge?: AuthChallenge | undefined;
  /** Milliseconds since some fixed moment. Default: the clock. */
  now?: (() => number) | undefined;
}

/** Checks the credentials, and slows down token guessing: refusals only, so the holder of a right token never waits. */
export class Authenticator {
  readonly #authenticate: Authenticate;
  readonly #onRefused: NonNullable<AuthenticatorOptions['onRefused']>;
  readonly #authBackoff: AuthBackoff;
  readonly #challenge: AuthChallenge | undefined;

  constructor(authenticate: Authenticate, { onRefused = () => {}, now, challenge }: AuthenticatorOptions = {}) {
    this.#authenticate = authenticate;
    this.#onRefused = onRefused;
    this.#challenge = challenge;
    this.#authBackoff = new AuthBackoff(now);
  }

  /**
   * As `check`, where a token is not needed: undefined for a request without one, which is no refusal, and is not reported as one.
   * Otherwise each probe of Kubernetes would be a line of the audit.
   */
  async checkIfSent(request: IncomingMessage): Promise<Principal | Refusal | undefined> {
    if (request.headers.authorization !== undefined) return this.check(request);
    try {
      // Who asks for no token may let in everyone.
      return admit(request, await this.#authenticate(undefined));
    } catch (error) {
      if (isAboutToken(error)) return undefined;
      throw error;
    }
  }

  /** Rejects only with faults of ours. */
  check(request: IncomingMessage): Principal | Promise<Principal | Refusal> {
    try {
      const principal = this.#authenticate(request.headers.authorization);
      if (!(principal instanceof Promise)) return admit(request, principal);
      return principal.then((found) => admit(request, found)).catch((error: unknown) => this.#refuse(error, request));
    } catch (error) {
      return this.#refuse(error, request);
    }
  }

  async #refuse(error: unknown, request: IncomingMessage): Promise<Refusal> {
    if (!isAboutToken(error)) throw error;
    const { reason = 'unverified', grant_id: grantId } = error.data;
    this.#onRefused(request, { reason: String(reason), grantId: typeof grantId === 'string' ? grantId : undefined });
    const wasSent = request.headers.authorization !== undefined;
    const { code, message: detail } = error;
    const more = { error_code: code };
    // Neither is a guess: the first may be right, the second is.
    if (code === 'cluster_unavailable' || reason === 'unverified') return { status: 503, detail, headers: ['retry-after', '5'], more };
    if (reason === 'insufficient_scope')
      return { status: 403, detail, headers: bearerChallenge(true, this.#challenge, 'insufficient_scope'), more };
    if (wasSent && !(await this.#authBackoff.wait())) return refuse(429, 'Too many wrong tokens. Try again later.', ['retry-after', '2']);
    if (reason === 'wrong_door') return { status: 403, detail, more };
    return { status: 401, detail, headers: bearerChallenge(wasSent, this.#challenge), more };
  }
}

function isAboutToken(error: unknown): error is BridgeError {
  return error instanceof BridgeError && (error.code === 'bad_grant' || error.code === 'cluster_unavailable');
}

/** Trusts the connection once the request is whole: a client that never sends the rest has no work here, whatever token its head has. */
function admit(request: IncomingMessage, principal: Principal): Principal {
  const { socket, headers } = request;
  const holder = principalKey(principal);
  if (ownConnections.trusts(socket, holder)) return principal;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody || request.complete) ownConnections.trust(socket, holder);
  else request.once('end', () => ownConnections.trust(socket, holder));
  return principal;
}
