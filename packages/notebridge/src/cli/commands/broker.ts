import { Command, Option } from 'commander';
import type { BrokerCommandOptions } from '../broker/run-broker.js';
import { addOptions, sharedOptions } from '../command-options.js';

/** `notebridge broker`: started by agents' processes, never by a person, so no help names it. */
export function brokerCommand(): Command {
  const command = new Command('broker').description('holds the notebooks of agents (started by itself)');
  command.addOption(new Option('--state-dir <dir>', 'where its private files are').makeOptionMandatory());
  return addOptions(command, [
    new Option('--broker-idle <seconds>', 'ends so long after its last agent, window and run').default(300).argParser(Number),
    sharedOptions.logLevel(),
  ]).action(async (options: BrokerCommandOptions) => {
    const { runBroker } = await import('../broker/run-broker.js');
    await runBroker(options);
  });
}
