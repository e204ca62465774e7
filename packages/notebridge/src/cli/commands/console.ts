import { Command } from 'commander';

/** `notebridge console`: the page by which the running hub is watched. */
export function consoleCommand(): Command {
  return new Command('console')
    .description('opens the page of the running hub in your browser: calls, servers, notebooks and agents, grants, and what waits for you')
    .option('--no-browser', 'print the address instead, which opens the page once, within 15 minutes')
    .action(async (options: { browser: boolean }) => {
      const { openConsole } = await import('../hub/open-console.js');
      await openConsole(options);
    });
}
