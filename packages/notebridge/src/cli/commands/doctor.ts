import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { clusterOption } from '../cluster/cluster-option.js';
import { addOptions, parsePort, sharedOptions } from '../command-options.js';
import type { DoctorOptions } from '../doctor/run-doctor.js';

/** `notebridge doctor`: looks at the whole set-up. */
export function doctorCommand(): Command {
  const { config, json, logDir, sandbox } = sharedOptions;
  const command = new Command('doctor').description('check the whole set-up and say how to fix each fault');
  return addOptions(command, [
    json(),
    config(),
    new Option('--port <number>', 'the port of "notebridge serve"').default(8765).argParser(parsePort),
    new Option('--shared-dir <dir>', 'the folder shared with kernels, if there is one').argParser((dir) => resolve(dir)),
    clusterOption('--cluster <urls>', 'the NATS of the cluster (default: that of the config)'),
    logDir(),
    sandbox(),
    new Option('--no-kernel', 'do not start the built-in Python, which takes some seconds'),
  ]).action(async (options: DoctorOptions) => {
    const { runDoctor } = await import('../doctor/run-doctor.js');
    await runDoctor(options);
  });
}
