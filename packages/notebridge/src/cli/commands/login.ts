import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import { openBrowser } from '@notebridge/system/processes/browser';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { loadConfig } from '../../config/load-config.js';
import type { RemoteServerConfig } from '../../config/server-config.js';
import { type LoginView, logIn } from '../../upstreams/oauth/log-in.js';
import { sharedOptions } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { parseTime } from '../grants/parse-terms.js';
import { printJsonLine, toDuration } from '../terminal.js';
import { onOneLine } from '../terminal-logger.js';

const options = [
  option('--scope <scopes>', 'rights to ask for besides those that the login has, separated by spaces'),
  option('--open', 'open the address in a browser, too'),
  option('--wait <time>', 'how long to wait for the answer: 90s, 10m', { default: '10m' }),
  sharedOptions.json,
  sharedOptions.config,
];

/** `notebridge login`: a person logs in at a remote server, by OAuth. */
export const loginCommand = defineCommand({ arguments: [['<server>', 'its name in the config']], options, run: runLogin });

/** Logs the person in at a remote server. The address to open stands alone on a line of stdout; everything else is on stderr. */
async function runLogin(name: string, { config: file, scope: asked, open, wait, json }: OptionsOf<typeof options>): Promise<void> {
  const config = await findRemote(name, file);
  if (config.auth?.grant === 'client_credentials')
    throw new BridgeError('bad_usage', `"${name}" logs itself in ("client_credentials" in its config): no person is needed.`);
  const { stdout, stderr } = process;
  const show = async (url: string): Promise<void> => {
    if (json) printJsonLine({ url });
    else {
      stderr.write('Open this address in a browser on this machine:\n');
      stdout.write(`${url}\n`);
    }
    if (!open) return;
    const result = await openBrowser(url);
    if (!result.opened) stderr.write(`${result.hint}\n`);
  };
  const view = await logIn({
    config,
    stateDir: stateDir(),
    env: process.env,
    clientName: 'Notebridge',
    scope: asked,
    timeoutMs: parseTime(wait, '--wait'),
    show,
  });
  const { issuer, scope, expiresAt, isRenewed } = view;
  if (!json) stderr.write(`${onOneLine(toText(name, view))}\n`);
  else printJsonLine({ logged_in: true, issuer, scope: scope ?? null, expires_at: expiresAt ?? null, is_renewed: isRenewed });
}

/** The entry of a server that is called by URL. Rejects with `unknown_server` or `bad_usage`. */
export async function findRemote(name: string, file: string | undefined): Promise<RemoteServerConfig> {
  const { servers, file: from } = await loadConfig({ file, env: process.env });
  const found = servers.find((server) => server.name === name);
  if (found === undefined) {
    const names = servers.filter(({ transport }) => transport !== 'stdio').map((server) => `"${server.name}"`);
    const known = names.length === 0 ? 'has no server with a "url"' : `has ${names.join(', ')}`;
    throw new BridgeError('unknown_server', `There is no server ${quote(name)}: ${from ?? 'the config'} ${known}.`);
  }
  if (found.transport === 'stdio')
    throw new BridgeError('bad_usage', `"${name}" is a program on this machine, which needs no login by OAuth.`);
  return found;
}

function toText(name: string, { issuer, scope, expiresAt, isRenewed }: LoginView): string {
  const rights = scope === undefined || scope === '' ? '' : ` for ${quote(scope)}`;
  const end = expiresAt === undefined ? 'until it is revoked' : `for ${toDuration(expiresAt - Date.now())}`;
  return `Logged in at "${name}" by ${quote(issuer)}${rights}; it holds ${isRenewed ? 'until it is revoked, renewed by itself' : end}. A hub that runs uses it from now on.`;
}
