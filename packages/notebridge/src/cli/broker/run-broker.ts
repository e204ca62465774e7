import { join } from 'node:path';
import type { LoggerLevel } from '@notebridge/kit/logger';
import { openBroker } from '../../assembly/open-broker.js';
import { createFileLogger } from '../../state/file-logger.js';
import { type Redacting, Redactor } from '../../util/redactor.js';
import { logFaults, untilSignal } from '../process-life.js';

export interface BrokerCommandOptions {
  stateDir: string;
  /** Seconds. */
  brokerIdle: number;
  logLevel: LoggerLevel;
}

/** What does not close in time after a signal is left: kernels end with us, and files are saved first. Milliseconds. */
const endMs = 10_000;

/** Holds notebooks until nobody needs them, or a signal comes. Ends at once if there is a broker already. */
export async function runBroker({ stateDir, brokerIdle, logLevel }: BrokerCommandOptions): Promise<void> {
  const dir = join(stateDir, 'logs');
  const name = `${new Date().toISOString().replaceAll(':', '-')}-broker-${process.pid}`;
  const create = (redactor: Redacting) =>
    createFileLogger({ dir, name, level: logLevel, redactor, onWarning: (text) => process.stderr.write(`notebridge: ${text}\n`) });
  const logger = create(new Redactor());
  logFaults(logger);
  const idleMs = Number.isFinite(brokerIdle) ? Math.max(0, brokerIdle * 1000) : 300_000;
  const signal = untilSignal(endMs);
  const broker = await openBroker({ stateDir, idleMs, env: process.env, logger, createLogger: create });
  if (broker === undefined) return;
  logger.info('Holding notebooks.', { pid: process.pid, idle_ms: idleMs });
  await Promise.race([signal, broker.ended]);
  await broker.close();
  await logger.close();
}
