import { isAbsolute, parse } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { LoggerLevel } from '@notebridge/protocol/util/logger';
import type { Redacting } from '@notebridge/protocol/util/redactor';
import { createFileLogger, type FileLogger } from '@notebridge/system/files/file-logger';
import { assertKeptOutside } from '@notebridge/system/processes/written-rule';
import { createNotebridge, type Notebridge } from '../assembly/create-notebridge.js';
import type { PageOptions } from '../assembly/notebooks/page-options.js';
import type { NotebridgeOptions } from '../assembly/options.js';
import { loadConfig } from '../config/load-config.js';
import { type HubCommandOptions, toWholeKernel } from './command-options.js';
import { logFaults, untilSignal } from './process-life.js';

/** What a command adds to its options. */
export interface CommandParts extends Omit<NotebridgeOptions, 'pages'> {
  command: string;
  hold?: PageOptions['hold'];
  createLogger: NonNullable<NotebridgeOptions['createLogger']>;
}

/** Puts together what a command asks for. Rejects with `bad_config` or `bad_middleware`. */
export async function createOwnNotebridge(options: HubCommandOptions, { command, ...parts }: CommandParts): Promise<Notebridge> {
  if (typeof parts.notebook !== 'function') assertFolder(parts.notebook ?? options.notebook, '--notebook');
  const { port, list, journal, outputs, allowEdits, sandbox, files, allowNet, kernel } = options;
  const sameNamed = { port, list, journal, outputs, allowEdits, sandbox, files, allowNet };
  return createNotebridge({
    ...parts,
    config: parts.config ?? (await loadConfig({ file: options.config, env: process.env })),
    notebook: parts.notebook ?? options.notebook,
    codeMode: options.codeMode,
    pages: {
      ...sameNamed,
      openBrowser: options.browser,
      kernel: kernel && toWholeKernel(kernel),
      attended: command !== 'stdio' && process.stdin.isTTY,
      hold: parts.hold,
      joinsPage: options.hold === 'join',
      allowHosts: options.allowHost,
      allowOrigins: options.allowOrigin,
    },
    createLogger: (redactor) => {
      const logger = parts.createLogger(redactor);
      logFaults(logger);
      return logger;
    },
  });
}

/** Serves one agent on stdio until it closes its end, a signal comes, or a person ends it; then closes everything. */
export async function serveAgent(bridge: Notebridge): Promise<void> {
  try {
    await bridge.start();
    const door = bridge.serveStdio();
    bridge.hub.logger.info('Serving an agent over stdio.');
    const ended = bridge.notebook?.ended;
    await Promise.race([door.closed, untilSignal(), ...(ended === undefined ? [] : [ended])]);
    door.close();
    await door.closed;
    const { readableEnded, bytesRead } = process.stdin;
    if (readableEnded && bytesRead === 0) process.stderr.write(nobodyThere);
  } finally {
    await bridge.close();
  }
}

const nobodyThere =
  'notebridge: Standard input ended before an agent said anything, so this has ended too. An agent host keeps it open; for yourself, start it in a terminal.\n';

/**
 * Agent hosts that know no folder start us in the root, where a relative file would be looked for, or made, at the wrong place. @throws
 * BridgeError `bad_usage`.
 */
export function assertFolder(file: string | undefined, option: string): void {
  const [cwd, { isTTY }] = [process.cwd(), process.stdin];
  if (file === undefined || !file.endsWith('.ipynb') || URL.canParse(file) || isAbsolute(file) || isTTY || parse(cwd).root !== cwd) return;
  throw new BridgeError(
    'bad_usage',
    `${option} "${file}" cannot be used: it is relative, and the agent host has started this program in "${cwd}", which is no folder of yours. Give the whole path, or have it written: go to the notebook's folder and run "notebridge setup HOST --notebook ${file} --write".`,
  );
}

interface LogPlace {
  logDir: string;
  logLevel: LoggerLevel;
}

/** As `toCommandLog`, in the folder that a person names. */
export function toNamedLog(command: string, place: LogPlace) {
  const createLogger = toCommandLog(command, place);
  return (redactor: Redacting): FileLogger => {
    assertKeptOutside(place.logDir, '--log-dir');
    return createLogger(redactor);
  };
}

/** The log of a command, in a file of its own; what a person should see of it stands on stderr too. */
export function toCommandLog(command: string, { logDir: dir, logLevel: level }: LogPlace) {
  const name = `${new Date().toISOString().replaceAll(':', '-')}-${command}-${process.pid}`;
  const onWarning = (text: string): void => void process.stderr.write(`notebridge: ${text}\n`);
  return (redactor: Redacting): FileLogger => createFileLogger({ dir, name, level, redactor, onWarning });
}
