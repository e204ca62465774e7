import type { Config } from '../config/config.js';
import { loadConfig } from '../config/load-config.js';
import { loadMiddlewareModules } from '../config/load-middleware.js';
import { messageOf } from '../core/errors.js';
import type { Middleware } from '../core/middleware.js';
import type { Provider } from '../core/provider.js';
import { serveStdio } from '../doors/mcp/stdio.js';
import type { BrowserResult } from '../processes/browser.js';
import { McpHost } from '../reference/mcp-host.js';
import { createFileLogger, type FileLogger } from '../state/file-logger.js';
import type { JsonObject } from '../util/json.js';
import { Redactor } from '../util/redactor.js';
import type { HubCommandOptions } from './options.js';
import { ownVersion } from './version.js';

/** What every hub of the command needs, before it has a notebook. */
export interface HubSetup {
  options: HubCommandOptions;
  config: Config;
  /** The user's own, of the config. */
  middlewares: readonly Middleware[];
  logger: FileLogger;
  redactor: Redactor;
  serverInfo: JsonObject;
}

/** A notebook that a hub offers. Whoever opened it closes it. */
export interface NotebookSource {
  provider: Provider;
  middlewares: readonly Middleware[];
  /** Resolves when a person asks for the end of the agent's connection. */
  ended?: Promise<void>;
  close(): Promise<void>;
}

/** Reads the config and opens the log. Rejects with `bad_config` or `bad_middleware`. */
export async function prepareHub(command: string, options: HubCommandOptions): Promise<HubSetup> {
  const config = await loadConfig({ ...(options.config === undefined ? {} : { file: options.config }), env: process.env });
  const middlewares = await loadMiddlewareModules(config.middleware, config.baseDir);
  const redactor = new Redactor();
  const logger = createFileLogger({
    dir: options.logDir,
    name: `${new Date().toISOString().replaceAll(':', '-')}-${command}-${process.pid}`,
    level: options.logLevel,
    redactor,
    onWarning: (text) => process.stderr.write(`notebridge: ${text}\n`),
  });
  // A middleware that forgets an await must not cost the agent its notebook.
  process.on('unhandledRejection', (error) => logger.error('A promise was rejected and nobody listened.', { error: stackOf(error) }));
  process.on('uncaughtExceptionMonitor', (error) => logger.error('An unexpected fault ends the program.', { error: stackOf(error) }));
  for (const { name } of config.servers)
    logger.warn(`The server "${name}" of the config is not started: this version serves notebooks only.`);
  return { options, config, middlewares, logger, redactor, serverInfo: { name: 'notebridge', title: 'Notebridge', version: ownVersion() } };
}

/** Serves one agent on stdio until it closes its end, a signal comes, or a person ends it; then closes everything. */
export async function serveAgent(setup: HubSetup, openSource: (setup: HubSetup) => Promise<NotebookSource>): Promise<void> {
  const { config, middlewares, logger, serverInfo } = setup;
  const host = new McpHost({ serverInfo, logger });
  let source: NotebookSource | undefined;
  try {
    source = await openSource(setup);
    host.mount(source.provider);
    // The user's own stand outermost: they see every message as the agent does.
    for (const middleware of [...middlewares, ...source.middlewares]) host.addMiddleware(middleware);
    const door = serveStdio(host, { maxMessageLength: config.limits.maxMessageBytes, maxInFlight: config.limits.maxInFlight });
    logger.info('Serving an agent over stdio.');
    await Promise.race([door.closed, untilSignal(), ...(source.ended === undefined ? [] : [source.ended])]);
    door.close();
    await door.closed;
  } finally {
    host.close();
    await source?.close();
    await logger.close();
  }
}

/** What stands for a browser when opening one is switched off. */
export const browserSwitchedOff: BrowserResult = {
  opened: false,
  reason: 'no_display',
  hint: 'Opening one is switched off (--no-browser).',
};

/** After a signal, an agent that does not read its last answers puts off our end by no more than this. Milliseconds. */
const lastWordsMs = 2000;

/** Resolves with the first signal that asks us to end. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const obey = (): void => {
      setTimeout(() => process.exit(), lastWordsMs).unref();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, obey);
  });
}

function stackOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? messageOf(error);
}
