import { createNotebridge, type Notebridge } from '../assembly/create-notebridge.js';
import type { PageOptions } from '../assembly/notebooks/page-options.js';
import type { NotebridgeOptions } from '../assembly/options.js';
import type { ClosableLogger } from '../core/logger.js';
import { createFileLogger } from '../state/file-logger.js';
import type { Redacting } from '../util/redactor.js';
import type { HubCommandOptions } from './command-options.js';
import { logFaults } from './process-life.js';

/** What a command adds to its options. */
export type CommandParts = Omit<NotebridgeOptions, 'config' | 'pages'> & { command: string; hold?: PageOptions['hold'] };

/** Puts together what a command asks for, with a log, by default in a file. Rejects with `bad_config` or `bad_middleware`. */
export async function createOwnNotebridge(options: HubCommandOptions, { command, ...parts }: CommandParts): Promise<Notebridge> {
  const createLogger = parts.createLogger ?? ((redactor: Redacting) => createCommandLog(command, options, redactor));
  return createNotebridge({
    ...parts,
    config: options.config,
    notebook: parts.notebook ?? options.notebook,
    pages: {
      port: options.port,
      list: options.list,
      openBrowser: options.browser,
      journal: options.journal,
      sandbox: options.sandbox,
      hold: parts.hold,
      allowHosts: options.allowHost,
      allowOrigins: options.allowOrigin,
    },
    createLogger: (redactor) => {
      const logger = createLogger(redactor);
      logFaults(logger);
      return logger;
    },
  });
}

function createCommandLog(command: string, { logDir, logLevel }: HubCommandOptions, redactor: Redacting): ClosableLogger {
  return createFileLogger({
    dir: logDir,
    name: `${new Date().toISOString().replaceAll(':', '-')}-${command}-${process.pid}`,
    level: logLevel,
    redactor,
    onWarning: (text) => process.stderr.write(`notebridge: ${text}\n`),
  });
}
