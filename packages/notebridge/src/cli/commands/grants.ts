import { Command, Option } from 'commander';
import { addOptions, collect, sharedOptions } from '../command-options.js';

/** `notebridge grants`: what code was given that outlives it. Tokens are those of `notebridge grant`. */
export function grantsCommand(): Command {
  const command = new Command('grants').description('folders that code in a sandbox was given to write to ("grant" is for tokens)');
  const files = new Command('files').description('the folders that "--files rw" ever gave, of which nothing is run outside of a sandbox');
  command.addCommand(
    addOptions(files, [
      new Option('--withdraw <folder>', 'take it back: what stands there now is trusted again (repeatable)').argParser<string[]>(
        (value, previous = []) => collect(value, previous),
      ),
      sharedOptions.json(),
    ]).action(async (options: { withdraw?: string[]; json?: boolean }) => {
      const { showWrittenFolders } = await import('../grants/written-folders.js');
      await showWrittenFolders(options);
    }),
  );
  return command;
}
