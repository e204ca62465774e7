import type { Command } from 'commander';
import { stateDir } from '../../processes/state-dir.js';
import { logOut } from '../../upstreams/oauth/log-out.js';
import { addOptions, sharedOptions } from '../command-options.js';
import { printJsonLine } from '../terminal.js';
import { onOneLine } from '../terminal-logger.js';
import { findRemote } from './login.js';

/** `notebridge logout`: ends the login at a remote server. */
export function logoutCommand(command: Command): void {
  const { config, json } = sharedOptions;
  command.argument('<server>', 'its name in the config');
  addOptions(command, [json(), config()]).action(async (name: string, options: { config?: string; json?: boolean }) => {
    const result = await logOut(await findRemote(name, options.config), { stateDir: stateDir(), env: process.env });
    if (options.json === true) printJsonLine(result);
    else process.stdout.write(`${onOneLine(toText(name, result))}\n`);
  });
}

function toText(name: string, result: Awaited<ReturnType<typeof logOut>>): string {
  if (result.was === 'none') return `Nobody was logged in at "${name}".`;
  if (result.was === 'revoked') {
    const rest = result.isSpent ? '' : '; the last token, which it cannot revoke, ends by itself';
    return `Logged out of "${name}": its authorization server has ended the login${rest}.`;
  }
  return `Logged out of "${name}": the tokens are forgotten here, but may be accepted until they expire (${result.why}).`;
}
