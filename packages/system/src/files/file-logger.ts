import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { isAtLeast, type Logger, type LoggerLevel, toLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Redacting } from '@notebridge/protocol/util/redactor';

export interface FileLoggerOptions {
  /** Made with mode 0700 if absent. */
  dir: string;
  /** File name without its end; the newest 20 files of the folder are kept. */
  name: string;
  /** Lines below are dropped. */
  level: LoggerLevel;
  redactor: Redacting;
  /** Receives each warning and error, redacted, and once that the log itself cannot be written. */
  onWarning: (text: string) => void;
}

export interface FileLogger extends Logger {
  /** Writes out what waits. Closing twice is harmless. */
  close(): Promise<void>;
}

interface Line {
  level: LoggerLevel;
  message: string;
  fields: JsonObject;
  time: number;
}

const keptFiles = 20;
/** Lines wait this long for the logging library, which is not worth loading before the first answers are out. */
const loadAfterMs = 300;

/** A log of JSON lines in a file of its own, by pino. It never stops the work: a full disk costs the log, not the calls. */
export function createFileLogger(options: FileLoggerOptions): FileLogger {
  const { level: lowest, redactor, onWarning } = options;
  let waiting: Line[] = [];
  let write: ((line: Line) => void) | undefined;
  let opening: Promise<void> | undefined;

  const open = async (): Promise<void> => {
    try {
      write = await openPino(options);
    } catch (error) {
      write = () => {};
      onWarning(
        `The log directory "${options.dir}" cannot be written (${messageOf(error)}); going on without a log. Choose another with --log-dir.`,
      );
    }
    for (const line of waiting.splice(0)) write(line);
  };
  const timer = setTimeout(() => {
    opening ??= open();
  }, loadAfterMs).unref();
  const logger = toLogger((level, message, fields) => {
    if (isAtLeast(level, 'warn')) onWarning(redactor.redactOurs(`${message}${toSuffix(fields)}`));
    if (!isAtLeast(level, lowest)) return;
    const line = { level, message, fields, time: Date.now() };
    if (write === undefined) waiting.push(line);
    else write(line);
  });

  return {
    ...logger,
    async close() {
      clearTimeout(timer);
      if (waiting.length > 0) opening ??= open();
      await opening;
      waiting = [];
    },
  };
}

async function openPino({ dir, name, redactor }: FileLoggerOptions): Promise<(line: Line) => void> {
  const { pino, destination } = await import('pino');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  removeOldLogs(dir);
  // Synchronous: few lines, and the last ones before a crash are those that matter.
  const file = destination({ dest: join(dir, `${name}.jsonl`), mode: 0o600, sync: true });
  file.on('error', () => {});
  const redacting = { write: (text: string) => file.write(redactor.redactOurs(text)) };
  const log = pino({ level: 'debug', base: null, timestamp: false }, redacting);
  return ({ level, message, fields, time }) => log[level]({ time: new Date(time).toISOString(), ...fields }, message);
}

function removeOldLogs(dir: string): void {
  const logs = readdirSync(dir).filter((file) => file.endsWith('.jsonl'));
  // Names begin with the time, so their order is that of their age.
  for (const file of logs.sort().slice(0, -keptFiles + 1)) rmSync(join(dir, file), { force: true });
}

function toSuffix(fields: JsonObject): string {
  const parts = Object.entries(fields).filter(([, value]) => value !== undefined && typeof value !== 'object');
  return parts.length === 0 ? '' : ` (${parts.map(([key, value]) => `${key}: ${String(value)}`).join(', ')})`;
}
