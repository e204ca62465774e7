import { once } from 'node:events';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';

/** Uncaught faults go to the log: a middleware that forgets an await must not cost the agent its notebook. */
export function logFaults(logger: Logger): void {
  process.on('unhandledRejection', (error) => logger.error('Unhandled promise rejection.', { error: stackOf(error) }));
  process.on('uncaughtExceptionMonitor', (error) => logger.error('An unexpected fault ends the program.', { error: stackOf(error) }));
}

/** After a signal, an agent that does not read its last answers delays the end by no more than this. Milliseconds. */
const lastWordsMs = 2000;

/** Resolves with the first signal that asks us to end; what is not closed in time after it is left. */
export async function untilSignal(timeoutMs = lastWordsMs): Promise<void> {
  await once(abortOnSignal(), 'abort');
  setTimeout(() => process.exit(), timeoutMs).unref();
}

const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Aborts with the first signal that asks us to end. */
export function abortOnSignal(): AbortSignal {
  const ending = new AbortController();
  for (const signal of endSignals) process.once(signal, () => ending.abort());
  return ending.signal;
}

/** Resolves with the next signal that asks us to end. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const obey = (signal: NodeJS.Signals): void => {
      for (const each of endSignals) process.off(each, obey);
      resolve(signal);
    };
    for (const each of endSignals) process.on(each, obey);
  });
}

function stackOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? messageOf(error);
}
