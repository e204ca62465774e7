import { type Logger, silentLogger } from '@notebridge/kit/logger';
import type { Redacting } from '../../util/redactor.js';
import { findHub } from '../hub/own-hub.js';
import { paintFor } from '../terminal.js';
import { createTerminalLogger } from '../terminal-logger.js';
import { createHubSource } from './hub-source.js';
import type { ToolSource } from './tool-source.js';

export interface SourceOptions {
  /** A config to start here, whatever hub runs. */
  config?: string;
  /** Leave a running hub alone. */
  standalone?: boolean;
}

/** The running hub, or else the servers of the config in this process. Rejects with `bad_config`. */
async function openSource({ config, standalone = false }: SourceOptions): Promise<ToolSource> {
  const asksHub = config === undefined && !standalone;
  const found = asksHub ? await findHub() : undefined;
  if (found !== undefined) return createHubSource(found);
  // Loaded only now: a command that talks to a hub needs none of it.
  const { createOwnSource } = await import('./own-source.js');
  return createOwnSource({ config, isInPlaceOfHub: asksHub, createLogger });
}

/** Nothing is logged unless it is asked for: an error says itself what went wrong. */
export function createLogger(redactor: Redacting): Logger {
  if (!process.argv.includes('--verbose')) return silentLogger;
  const { stderr } = process;
  return createTerminalLogger({ level: 'debug', redactor, write: (text) => stderr.write(text), format: 'text', paint: paintFor(stderr) });
}

/** Uses a source and closes it, whatever happens. */
export async function withSource<Result>(options: SourceOptions, work: (source: ToolSource) => Promise<Result>): Promise<Result> {
  const source = await openSource(options);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}
