import { BridgeError } from '@notebridge/protocol/core/errors';
import { shellWord } from '@notebridge/system/starts/shell-word';
import { StartFault } from '../unavailable.js';

/** Of what a server names as a scope only what RFC 6749 allows: it ends up in a command that a person copies. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;
const mostScopes = 50;

export interface LoginNeed {
  server: string;
  /** The rest of the sentence "… needs a login: ". */
  why: string;
  /** What the server asks for beyond what the login has, separated by spaces. */
  scope?: string | undefined;
  /** Options that the command needs to find the same config. */
  options?: readonly string[] | undefined;
  cause?: unknown;
}

/** The scopes of a text that are any. */
export function parseScopes(scope: string | undefined): string[] {
  const found = (scope ?? '').split(/\s+/).filter((word) => scopeToken.test(word));
  return [...new Set(found)].slice(0, mostScopes);
}

/** A server wants a person to log in, or to allow more. Never a prompt in the middle of a call: the error says what to run. */
export function loginRequired({ server, why, scope, options = [], cause }: LoginNeed): BridgeError {
  const scopes = parseScopes(scope);
  const words = ['notebridge', 'login', server, ...(scopes.length > 0 ? ['--scope', scopes.join(' ')] : []), ...options];
  const command = words.map((word) => shellWord(word)).join(' ');
  const fault = new StartFault(`${why}. Run: ${command}`, { lasting: true, cause });
  const data = { server, command, ran: 'no', ...(scopes.length > 0 && { scopes }) };
  return new BridgeError('login_required', `"${server}" needs a login: ${why}. Run in a terminal: ${command}`, { data, cause: fault });
}
