import { Command, Option } from 'commander';
import { addOptions, sharedOptions } from '../command-options.js';
import type { LoginOptions } from '../login/run-login.js';

/** `notebridge login`: a person logs in at a remote server, by OAuth. */
export function loginCommand(): Command {
  const { config, json } = sharedOptions;
  const command = new Command('login')
    .description('log in at a remote server of the config (OAuth): prints the address to open in a browser')
    .argument('<server>', 'its name in the config');
  return addOptions(command, [
    new Option('--scope <scopes>', 'rights to ask for besides those that the login has, separated by spaces'),
    new Option('--open', 'open the address in a browser, too'),
    new Option('--wait <time>', 'how long to wait for the answer: 90s, 10m').default('10m'),
    json(),
    config(),
  ]).action(async (server: string, options: LoginOptions) => {
    const { runLogin } = await import('../login/run-login.js');
    await runLogin(server, options);
  });
}
