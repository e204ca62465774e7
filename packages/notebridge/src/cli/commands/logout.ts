import { stateDir } from '@notebridge/system/processes/state-dir';
import { logOut } from '../../upstreams/oauth/log-out.js';
import { sharedOptions } from '../command-options.js';
import { defineCommand } from '../define-command.js';
import { printJsonLine } from '../terminal.js';
import { onOneLine } from '../terminal-logger.js';
import { findRemote } from './login.js';

/** `notebridge logout`: ends the login at a remote server. */
export const logoutCommand = defineCommand({
  arguments: [['<server>', 'its name in the config']],
  options: [sharedOptions.json, sharedOptions.config],
  run: async (name, { config, json }) => {
    const result = await logOut(await findRemote(name, config), { stateDir: stateDir(), env: process.env });
    if (json) printJsonLine(result);
    else process.stdout.write(`${onOneLine(toText(name, result))}\n`);
  },
});

function toText(name: string, result: Awaited<ReturnType<typeof logOut>>): string {
  if (result.was === 'none') return `Nobody was logged in at "${name}".`;
  if (result.was === 'revoked') {
    const rest = result.isSpent ? '' : '; the last token, which it cannot revoke, ends by itself';
    return `Logged out of "${name}": its authorization server has ended the login${rest}.`;
  }
  return `Logged out of "${name}": the tokens are forgotten here, but may be accepted until they expire (${result.why}).`;
}
