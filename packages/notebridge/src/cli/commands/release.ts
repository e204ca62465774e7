import { Command } from 'commander';

/** `notebridge release NOTEBOOK`: ends the hold of the agent that alone changes and runs a notebook. */
export function releaseCommand(): Command {
  return new Command('release')
    .description('let another agent write: end the hold that one has on an open notebook')
    .argument('<notebook>', 'its id or address in "notebridge ps", or its .ipynb file')
    .action(async (notebook: string) => {
      const { releaseNotebook } = await import('../notebook/release-notebook.js');
      await releaseNotebook(notebook);
    });
}
