import type { JsonObject } from './json.js';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Where parts report what happened. Never handed a secret; the sink redacts all the same. */
export type Logger = { [Level in LogLevel]: (message: string, fields?: JsonObject) => void };

const ignore = (): void => {};

/** A logger that keeps nothing: the default of every part that is used as a library. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
