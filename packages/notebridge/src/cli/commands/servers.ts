import type { Command } from 'commander';
import { listServers } from '../client/list-servers.js';
import { addOptions, sharedOptions } from '../command-options.js';

/** `notebridge servers`: the servers of the config and their status. */
export function serversCommand(command: Command): void {
  const { config, standalone, json } = sharedOptions;
  addOptions(command, [json(), config(), standalone()]).action(listServers);
}
