import type { JsonObject } from '../json.js';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LoggerLevel = (typeof logLevels)[number];

/** Where parts report what happened. Never handed a secret; the sink redacts all the same. */
export type Logger = { [Level in LoggerLevel]: (message: string, fields?: JsonObject) => void };

/** A logger of which the lines of all levels go one way. */
export function toLogger(log: (level: LoggerLevel, message: string, fields: JsonObject) => void): Logger {
  const at =
    (level: LoggerLevel): Logger[LoggerLevel] =>
    (message, fields = {}) =>
      log(level, message, fields);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** True if lines of the level are to be kept where those below `lowest` are not. */
export function isAtLeast(level: LoggerLevel, lowest: LoggerLevel): boolean {
  return logLevels.indexOf(level) >= logLevels.indexOf(lowest);
}

/** A logger that keeps nothing: the default of every part that is used as a library. */
export const silentLogger: Logger = toLogger(() => {});
