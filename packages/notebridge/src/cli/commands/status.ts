import { Command } from 'commander';
import { sharedOptions } from '../command-options.js';

/** `notebridge status`: the running hub on one screen. */
export function statusCommand(): Command {
  return new Command('status')
    .description('the running hub on one screen: servers, calls, what failed and what waits for you')
    .addOption(sharedOptions.json())
    .action(async (options: { json?: boolean }) => {
      const { showStatus } = await import('../hub/show-status.js');
      await showStatus(options);
    });
}
