import { Command } from 'commander';
import type { ListOptions } from '../client/list-servers.js';
import { addOptions, sharedOptions } from '../command-options.js';

/** `notebridge servers`: the servers of the config and their status. */
export function serversCommand(): Command {
  const { config, standalone, json } = sharedOptions;
  const command = new Command('servers').description('the servers of the config, and their status');
  return addOptions(command, [json(), config(), standalone()]).action(async (options: ListOptions) => {
    const { listServers } = await import('../client/list-servers.js');
    await listServers(options);
  });
}
