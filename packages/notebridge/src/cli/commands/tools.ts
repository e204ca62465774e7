import { Command } from 'commander';
import type { ListOptions } from '../client/list-servers.js';
import { addOptions, sharedOptions } from '../command-options.js';

/** `notebridge tools`: what can be called, and what agents call it. */
export function toolsCommand(): Command {
  const { config, standalone, json } = sharedOptions;
  const command = new Command('tools')
    .description('the tools of all servers, of one, or one tool with its input')
    .argument('[server]')
    .argument('[tool]');
  return addOptions(command, [json(), config(), standalone()]).action(
    async (server: string | undefined, tool: string | undefined, options: ListOptions) => {
      const { listTools } = await import('../client/list-tools.js');
      await listTools({ server, tool }, options);
    },
  );
}
