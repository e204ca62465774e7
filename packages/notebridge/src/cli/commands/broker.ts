import { join } from 'node:path';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { openBroker } from '../../assembly/open-broker.js';
import { sharedOptions } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { toCommandLog } from '../own-notebridge.js';
import { logFaults, untilSignal } from '../process-life.js';

const typed = [option('--state-dir <dir>', 'where its private files are', { isMandatory: true })];
const options = [
  option('--broker-idle <seconds>', 'ends so long after its last agent, window and run', { default: 300, parse: Number }),
  sharedOptions.logLevel,
];

/** `notebridge broker`: started by agents' processes, never by a person, so no help names it. */
export const brokerCommand = defineCommand({ typed, options, run: runBroker });

/** What does not close in time after a signal is left: kernels end with us, and files are saved first. Milliseconds. */
const endMs = 10_000;

/** Holds notebooks until nobody needs them, or a signal comes. Ends at once if there is a broker already. */
async function runBroker({ stateDir, brokerIdle, logLevel }: OptionsOf<typeof typed> & OptionsOf<typeof options>): Promise<void> {
  const createLogger = toCommandLog('broker', { logDir: join(stateDir, 'logs'), logLevel });
  const logger = createLogger(new Redactor());
  logFaults(logger);
  const idleMs = Number.isFinite(brokerIdle) ? Math.max(0, brokerIdle * 1000) : 300_000;
  const signal = untilSignal(endMs);
  const broker = await openBroker({ stateDir, idleMs, env: process.env, logger, createLogger });
  if (broker === undefined) return;
  logger.info('Holding notebooks.', { pid: process.pid, idle_ms: idleMs });
  await Promise.race([signal, broker.ended]);
  await broker.close();
  await logger.close();
}
