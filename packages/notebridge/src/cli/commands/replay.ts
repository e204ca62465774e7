import { Command, Option } from 'commander';
import { addOptions } from '../command-options.js';
import type { ReplayOptions } from '../replay/run-replay.js';

/** `notebridge replay`: a recorded server, served again. */
export function replayCommand(): Command {
  const command = new Command('replay')
    .description('an MCP server on stdin and stdout that answers as one was recorded')
    .argument('<file>', 'what "notebridge record" has written');
  return addOptions(command, [
    new Option('--link <name>', 'which connection of the recording is served (default: what the agent saw, else the only one)'),
    new Option('--timing <how>', 'answer at once, or with the pauses of the recording').choices(['fast', 'recorded']).default('fast'),
    new Option('--strict', 'exit with 1 if the client did not do what was recorded'),
    new Option('--list', 'print what is in the file, and serve nothing'),
  ]).action(async (file: string, options: ReplayOptions) => {
    const { runReplay } = await import('../replay/run-replay.js');
    await runReplay(file, options);
  });
}
