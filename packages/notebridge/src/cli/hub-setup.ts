import type { NotebookTools } from '@notebridge/notebook/host';
import type { Config } from '../config/config.js';
import { loadConfig } from '../config/load-config.js';
import { loadMiddlewareModules } from '../config/load-middleware.js';
import { messageOf } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import type { Middleware } from '../core/middleware.js';
import type { Provider } from '../core/provider.js';
import type { OnRefused } from '../core/refused-attempt.js';
import type { PagePort } from '../notebooks/pages/page-listener.js';
import type { BrowserResult } from '../processes/browser.js';
import { createFileLogger } from '../state/file-logger.js';
import type { JsonObject } from '../util/json.js';
import { Redactor } from '../util/redactor.js';
import type { HubCommandOptions } from './options.js';
import { ownVersion } from './version.js';

/** A log that somebody has to close. */
export type OwnLogger = Logger & { close(): Promise<void> };

/** What every hub of the command needs, before it has a notebook. */
export interface HubSetup {
  options: HubCommandOptions;
  config: Config;
  /** The user's own, of the config. */
  middlewares: readonly Middleware[];
  logger: OwnLogger;
  redactor: Redactor;
  serverInfo: JsonObject;
  /** Where notebook pages dial, if the hub has a port already. */
  pages?: PagePort;
  /** Told of who was not let in by the notebook's own doors. */
  onRefused?: OnRefused | undefined;
  /** What code in a notebook of this process may call, where there are servers. Whoever opens it closes it. */
  openTools?: (() => Promise<NotebookTools & { close(): Promise<void> }>) | undefined;
}

/** A notebook that a hub offers. Whoever opened it closes it. */
export interface NotebookSource {
  provider: Provider;
  middlewares: readonly Middleware[];
  /** Resolves when a person asks for the end of the agent's connection. */
  ended?: Promise<void>;
  close(): Promise<void>;
}

/** Reads the config and opens the log, by default a file. Rejects with `bad_config` or `bad_middleware`. */
export async function prepareHub(
  command: string,
  options: HubCommandOptions,
  createLogger: (redactor: Redactor) => OwnLogger = (redactor) => createCommandLog(command, options, redactor),
): Promise<HubSetup> {
  const config = await loadConfig({ ...(options.config === undefined ? {} : { file: options.config }), env: process.env });
  const middlewares = await loadMiddlewareModules(config.middleware, config.baseDir);
  const redactor = new Redactor();
  const logger = createLogger(redactor);
  // A middleware that forgets an await must not cost the agent its notebook.
  process.on('unhandledRejection', (error) => logger.error('A promise was rejected and nobody listened.', { error: stackOf(error) }));
  process.on('uncaughtExceptionMonitor', (error) => logger.error('An unexpected fault ends the program.', { error: stackOf(error) }));
  return { options, config, middlewares, logger, redactor, serverInfo: ownServerInfo() };
}

export function ownServerInfo(): JsonObject {
  return { name: 'notebridge', title: 'Notebridge', version: ownVersion() };
}

/** What stands for a browser when opening one is switched off. */
export const browserSwitchedOff: BrowserResult = {
  opened: false,
  reason: 'no_display',
  hint: 'Opening one is switched off (--no-browser).',
};

/** After a signal, an agent that does not read its last answers puts off our end by no more than this. Milliseconds. */
const lastWordsMs = 2000;

/** Resolves with the first signal that asks us to end; what is not closed in time after it is left. */
export function untilSignal(timeoutMs = lastWordsMs): Promise<void> {
  return new Promise((resolve) => {
    const obey = (): void => {
      setTimeout(() => process.exit(), timeoutMs).unref();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, obey);
  });
}

function createCommandLog(command: string, { logDir, logLevel }: HubCommandOptions, redactor: Redactor): OwnLogger {
  return createFileLogger({
    dir: logDir,
    name: `${new Date().toISOString().replaceAll(':', '-')}-${command}-${process.pid}`,
    level: logLevel,
    redactor,
    onWarning: (text) => process.stderr.write(`notebridge: ${text}\n`),
  });
}

function stackOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? messageOf(error);
}
