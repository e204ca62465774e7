import type { BridgeError } from '../../core/errors.js';
import { httpStatusOf } from '../upstream-http-fault.js';
import type { ServerTokens } from './server-tokens.js';

/** What a person is to do about the fault of a request; undefined: a login would not help. */
export function toLoginNeed(error: unknown, tokens: ServerTokens): BridgeError | undefined {
  if (!(error instanceof Error)) return undefined;
  // Of the SDK, by its name: loading its class would cost each start.
  if (error.name === 'InsufficientScopeError') {
    const { requiredScope: scope } = error as Error & { requiredScope?: string };
    return tokens.require({ why: 'the login does not allow this (HTTP 403, insufficient_scope)', scope, cause: error });
  }
  if (error.name === 'UnauthorizedError' || httpStatusOf(error).status === 401)
    return tokens.require({ why: 'the server refuses the login (HTTP 401)', cause: error });
  return undefined;
}
