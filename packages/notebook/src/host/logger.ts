/** Where the host reports what happened. Never handed a secret. */
export interface Logger {
  debug(message: string, fields?: { [key: string]: unknown }): void;
  info(message: string, fields?: { [key: string]: unknown }): void;
  warn(message: string, fields?: { [key: string]: unknown }): void;
  error(message: string, fields?: { [key: string]: unknown }): void;
}

const ignore = (): void => {};

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
