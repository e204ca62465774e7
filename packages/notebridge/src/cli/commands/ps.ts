import { Command } from 'commander';
import { addOptions, sharedOptions } from '../command-options.js';

/** `notebridge ps`: the hubs and notebooks of this user. */
export function psCommand(): Command {
  const command = new Command('ps').description('the hubs and open notebooks of this user');
  return addOptions(command, [sharedOptions.json()]).action(async ({ json }: { json?: boolean }) => {
    const { listOpen } = await import('../notebook/list-open.js');
    await listOpen({ asJson: json === true });
  });
}
