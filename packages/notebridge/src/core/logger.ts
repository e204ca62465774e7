import type { Logger } from '@notebridge/kit/logger';

/** A log that may have to be closed by whoever made it. */
export type ClosableLogger = Logger & { close?(): Promise<void> };

/** A logger of which the lines of all levels go one way. */
export function toLogger(log: (level: LogLevel, message: string, fields: JsonObject) => void): Logger {
  const at =
    (level: LogLevel): Logger[LogLevel] =>
    (message, fields = {}) =>
      log(level, message, fields);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** True if lines of the level are to be kept where those below `lowest` are not. */
export function isAtLeast(level: LogLevel, lowest: LogLevel): boolean {
  return logLevels.indexOf(level) >= logLevels.indexOf(lowest);
}

/** A logger that keeps nothing: the default of every part that is used as a library. */
export const silentLogger: Logger = toLogger(() => {});
