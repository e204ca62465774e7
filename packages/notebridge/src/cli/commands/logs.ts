import { Command, InvalidArgumentError, Option } from 'commander';
import { sharedOptions } from '../command-options.js';
import type { LogsOptions } from '../hub/show-logs.js';

/** `notebridge logs`: the last lines of the running hub's log. */
export function logsCommand(): Command {
  return new Command('logs')
    .description("the last lines of the running hub's log, secrets taken out")
    .option('-f, --follow', 'go on with what comes, until Ctrl-C')
    .option('--server <name>', 'only lines of this server, and about it')
    .option('--call <id>', 'only lines about this call, by its id in the audit')
    .addOption(new Option('--level <level>', 'least level that is shown').choices(['info', 'warn', 'error']))
    .addOption(new Option('-n, --lines <number>', 'how many of the last lines').default(200).argParser(parseLines))
    .addOption(sharedOptions.json())
    .action(async (options: LogsOptions) => {
      const { showLogs } = await import('../hub/show-logs.js');
      await showLogs(options);
    });
}

function parseLines(text: string): number {
  const lines = Number(text);
  if (Number.isInteger(lines) && lines >= 1 && lines <= 2000) return lines;
  throw new InvalidArgumentError('It must be a whole number from 1 to 2000.');
}
