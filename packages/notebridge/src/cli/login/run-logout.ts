import { stateDir } from '../../processes/state-dir.js';
import { logOut } from '../../upstreams/oauth/log-out.js';
import { onOneLine } from '../terminal-logger.js';
import { findRemote } from './run-login.js';

/** Ends the login at a remote server. */
export async function runLogout(name: string, options: { config?: string; json?: boolean }): Promise<void> {
  const result = await logOut(await findRemote(name, options.config), { stateDir: stateDir(), env: process.env });
  if (options.json === true) process.stdout.write(`${JSON.stringify(result)}\n`);
  else process.stdout.write(`${onOneLine(toText(name, result))}\n`);
}

function toText(name: string, result: Awaited<ReturnType<typeof logOut>>): string {
  if (result.was === 'none') return `Nobody was logged in at "${name}".`;
  if (result.was === 'revoked') {
    const rest = result.isSpent ? '' : '; the last token, which it cannot revoke, ends by itself';
    return `Logged out of "${name}": its authorization server has ended the login${rest}.`;
  }
  return `Logged out of "${name}": the tokens are forgotten here, but may be accepted until they expire (${result.why}).`;
}
