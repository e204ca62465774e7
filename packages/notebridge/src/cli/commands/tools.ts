import type { Command } from 'commander';
import type { ListOptions } from '../client/list-servers.js';
import { listTools } from '../client/list-tools.js';
import { addOptions, sharedOptions } from '../command-options.js';

/** `notebridge tools`: what can be called, and what agents call it. */
export function toolsCommand(command: Command): void {
  const { config, standalone, json } = sharedOptions;
  command.argument('[server]').argument('[tool]');
  addOptions(command, [json(), config(), standalone()]).action(
    (server: string | undefined, tool: string | undefined, options: ListOptions) => listTools({ server, tool }, options),
  );
}
