import { Command, Option } from 'commander';
import { addOptions, sharedOptions } from '../command-options.js';
import type { ListKernelsOptions } from '../kernels/list-kernels.js';

/** `notebridge kernels`: what can run the code of the built-in notebook. */
export function kernelsCommand(): Command {
  const command = new Command('kernels')
    .description('what can run the code of the built-in notebook on this machine, and why the rest cannot')
    .argument('[where]', 'a notebook, or the folder of notebooks (default: this folder)');
  return addOptions(command, [
    sharedOptions.json(),
    new Option('--distrust', 'no longer run the Python of this folder without a question'),
  ]).action(async (where: string | undefined, options: ListKernelsOptions) => {
    const { listKernels } = await import('../kernels/list-kernels.js');
    await listKernels(where, options);
  });
}
