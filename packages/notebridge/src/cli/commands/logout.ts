import { Command } from 'commander';
import { addOptions, sharedOptions } from '../command-options.js';

/** `notebridge logout`: ends the login at a remote server. */
export function logoutCommand(): Command {
  const { config, json } = sharedOptions;
  const command = new Command('logout')
    .description('end the login at a remote server of the config, and have its tokens revoked')
    .argument('<server>', 'its name in the config');
  return addOptions(command, [json(), config()]).action(async (server: string, options: { config?: string; json?: boolean }) => {
    const { runLogout } = await import('../login/run-logout.js');
    await runLogout(server, options);
  });
}
