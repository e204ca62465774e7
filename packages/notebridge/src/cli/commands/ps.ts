import { Command } from 'commander';
import { clusterOption } from '../cluster/cluster-option.js';
import { addOptions, sharedOptions } from '../command-options.js';

interface PsOptions {
  json?: boolean;
  config?: string;
  cluster?: string[] | true;
}

/** `notebridge ps`: the hubs and notebooks of this user, or the hubs of a cluster. */
export function psCommand(): Command {
  const command = new Command('ps').description('the hubs and open notebooks of this user, or the hubs of a cluster');
  const cluster = clusterOption(
    '--cluster [urls]',
    'the hubs of the cluster at this NATS (default: that of the config), and what each has',
  );
  return addOptions(command, [sharedOptions.json(), sharedOptions.config(), cluster]).action(async (options: PsOptions) => {
    const asJson = options.json === true;
    if (options.cluster !== undefined) {
      const { listHubs } = await import('../cluster/list-hubs.js');
      return listHubs({ config: options.config, urls: options.cluster === true ? undefined : options.cluster, asJson });
    }
    const { listOpen } = await import('../notebook/list-open.js');
    return listOpen({ asJson });
  });
}
