import { Command, Option } from 'commander';
import type { DemoCommandOptions } from '../demo/tell-demo.js';
import { addOptions, sharedOptions } from '../options.js';

/** `notebridge demo`: the main job, played and checked from end to end on this machine, with no settings and no network. */
export function demoCommand(): Command {
  return addOptions(
    new Command('demo')
      .description('an agent works in the built-in notebook, Python calls an MCP server, each step is checked; no network')
      .option('--browser', 'show the notebook in a window, until you press Enter')
      .option('--keep <file>', 'keep the notebook as this new .ipynb file (default: it is removed)')
      .option('--json', 'print a JSON object {ok, steps}, for scripts')
      // Named like the option of the other commands, and there is one such place so far.
      .addOption(new Option('--notebook <where>', 'the notebook to play in').choices(['local']).default('local'))
      .action(async (options: DemoCommandOptions) => {
        // Loaded only now: the help needs none of it.
        const { tellDemo } = await import('../demo/tell-demo.js');
        await tellDemo(options);
      }),
    [sharedOptions.sandbox()],
  );
}
