import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { isAtLeast, type LoggerLevel, logLevels, toLogger } from '@notebridge/protocol/util/logger';
import type { ClosableLogger } from '@notebridge/system/files/closable-logger';

/** A line of the log, as it was written: secrets may still be in it. */
export interface LogLine {
  /** One more than that of the line before. */
  id: number;
  /** Milliseconds since the epoch. */
  time: number;
  level: LoggerLevel;
  message: string;
  fields: JsonObject;
}

/** Which lines are meant. What is left out means any. */
export interface LogFilter {
  server?: string | undefined;
  /** The id of a call in the audit. */
  call?: string | undefined;
  /** Lines below it are left out. */
  level?: LoggerLevel | undefined;
}

/** Lines that are remembered. */
const mostLines = 2000;
/** Of all of them together. Characters. */
const mostCharacters = 4 * 1024 * 1024;
/** Of a line, which may be a server's own words. */
const longestMessage = 16_384;

/** The last lines of the log, for the owner to look at who does not see the terminal of the hub: in memory alone. */
export class RecentLog {
  /** A line was added. */
  readonly added = new Listeners<LogLine>();
  readonly #lines: LogLine[] = [];
  #characters = 0;
  #lastId = 0;

  /** Hands lines on, and remembers them; those of `debug` come far too often for that. */
  tee(logger: ClosableLogger): ClosableLogger {
    const teed = toLogger((level, message, fields) => {
      logger[level](message, fields);
      if (isAtLeast(level, 'info'))
        this.#add({ id: ++this.#lastId, time: Date.now(), level, message: message.slice(0, longestMessage), fields });
    });
    return { ...teed, close: async () => logger.close?.() };
  }

  /** The newest lines that are meant, the oldest of them first; `after`: only those behind the line of that id. */
  list({ server, call, level = 'debug' }: LogFilter, { after = 0, limit }: { after?: number; limit: number }): LogLine[] {
    const fits = ({ id, level: own, fields }: LogLine): boolean =>
      id > after &&
      isAtLeast(own, level) &&
      (server === undefined || fields.server === server) &&
      (call === undefined || fields.call_id === call);
    return this.#lines.filter(fits).slice(-limit);
  }

  get lastId(): number {
    return this.#lastId;
  }

  #add(line: LogLine): void {
    this.#lines.push(line);
    this.#characters += line.message.length;
    while (this.#lines.length > mostLines || this.#characters > mostCharacters)
      this.#characters -= this.#lines.shift()?.message.length ?? 0;
    this.added.emit(line);
  }
}

export function isLogLevel(text: string): text is LoggerLevel {
  return (logLevels as readonly string[]).includes(text);
}
