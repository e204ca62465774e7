import { join } from 'node:path';
import type { LoggerLevel } from '@notebridge/kit/logger';
import { type Command, Option } from 'commander';
import { openBroker } from '../../assembly/open-broker.js';
import { Redactor } from '../../util/redactor.js';
import { addOptions, sharedOptions } from '../command-options.js';
import { toCommandLog } from '../own-notebridge.js';
import { logFaults, untilSignal } from '../process-life.js';

/** `notebridge broker`: started by agents' processes, never by a person, so no help names it. */
export function brokerCommand(command: Command): void {
  command.addOption(new Option('--state-dir <dir>', 'where its private files are').makeOptionMandatory());
  addOptions(command, [
    new Option('--broker-idle <seconds>', 'ends so long after its last agent, window and run').default(300).argParser(Number),
    sharedOptions.logLevel(),
  ]).action(runBroker);
}

interface BrokerCommandOptions {
  stateDir: string;
  /** Seconds. */
  brokerIdle: number;
  logLevel: LoggerLevel;
}

/** What does not close in time after a signal is left: kernels end with us, and files are saved first. Milliseconds. */
const endMs = 10_000;

/** Holds notebooks until nobody needs them, or a signal comes. Ends at once if there is a broker already. */
async function runBroker({ stateDir, brokerIdle, logLevel }: BrokerCommandOptions): Promise<void> {
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
