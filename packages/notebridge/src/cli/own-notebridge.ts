import { isAbsolute, parse } from 'node:path';
import { createNotebridge, type Notebridge } from '../assembly/create-notebridge.js';
import type { PageOptions } from '../assembly/notebooks/page-options.js';
import type { NotebridgeOptions } from '../assembly/options.js';
import { loadConfig } from '../config/load-config.js';
import { BridgeError } from '../core/errors.js';
import { assertKeptOutside } from '../processes/written-rule.js';
import type { ClosableLogger } from '../state/closable-logger.js';
import { createFileLogger } from '../state/file-logger.js';
import type { Redacting } from '../util/redactor.js';
import type { HubCommandOptions } from './command-options.js';
import { toWholeKernel } from './kernel-argument.js';
import { logFaults } from './process-life.js';

/** What a command adds to its options. */
export type CommandParts = Omit<NotebridgeOptions, 'pages'> & { command: string; hold?: PageOptions['hold'] };

/** Puts together what a command asks for, with a log, by default in a file. Rejects with `bad_config` or `bad_middleware`. */
export async function createOwnNotebridge(options: HubCommandOptions, { command, ...parts }: CommandParts): Promise<Notebridge> {
  if (typeof parts.notebook !== 'function') assertFolder(parts.notebook ?? options.notebook, '--notebook');
  const createLogger = parts.createLogger ?? ((redactor: Redacting) => createCommandLog(command, options, redactor));
  return createNotebridge({
    ...parts,
    config: parts.config ?? (await loadConfig({ file: options.config, env: process.env })),
    notebook: parts.notebook ?? options.notebook,
    codeMode: options.codeMode,
    pages: {
      port: options.port,
      list: options.list,
      openBrowser: options.browser,
      journal: options.journal,
      outputs: options.outputs,
      kernel: options.kernel === undefined ? undefined : toWholeKernel(options.kernel),
      attended: command !== 'stdio' && process.stdin.isTTY,
      allowEdits: options.allowEdits,
      sandbox: options.sandbox,
      files: options.files,
      allowNet: options.allowNet,
      hold: parts.hold,
      joinsPage: options.hold === 'join',
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

/**
 * Agent hosts that know no folder start us in the root, where a relative file would be looked for, or made, at the wrong place. @throws
 * BridgeError `bad_usage`.
 */
export function assertFolder(file: string | undefined, option: string, { isTTY } = process.stdin): void {
  const cwd = process.cwd();
  if (file === undefined || !file.endsWith('.ipynb') || URL.canParse(file) || isAbsolute(file) || isTTY || parse(cwd).root !== cwd) return;
  throw new BridgeError(
    'bad_usage',
    `${option} "${file}" cannot be used: it is relative, and the agent host has started this program in "${cwd}", which is no folder of yours. Give the whole path, or have it written: go to the notebook's folder and run "notebridge setup HOST --notebook ${file} --write".`,
  );
}

function createCommandLog(command: string, { logDir, logLevel }: HubCommandOptions, redactor: Redacting): ClosableLogger {
  assertKeptOutside(logDir, '--log-dir');
  return createFileLogger({
    dir: logDir,
    name: `${new Date().toISOString().replaceAll(':', '-')}-${command}-${process.pid}`,
    level: logLevel,
    redactor,
    onWarning: (text) => process.stderr.write(`notebridge: ${text}\n`),
  });
}
