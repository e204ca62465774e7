import { type Logger, silentLogger } from '@notebridge/kit/logger';
import { type HubFile, isOwnHub } from '../../identity/hub-file.js';
import { readOwnerToken } from '../../identity/owner-token.js';
import { stateDir } from '../../processes/state-dir.js';
import type { Redacting } from '../../util/redactor.js';
import { chooseHub } from '../hub/choose-hub.js';
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

/**
 * The user's running hub, if there is one; see `chooseHub`. What listens at its address has to prove that it is the hub before it sees the token: after
 * a crash any program may have taken the port.
 */
export async function findHub(): Promise<{ url: string; token: string; file: HubFile } | undefined> {
  const file = chooseHub();
  const token = file === undefined ? undefined : readOwnerToken(stateDir());
  if (file === undefined || token === undefined) return undefined;
  if (await isOwnHub(file.url, token)) return { url: file.url, token, file };
  process.stderr.write(`notebridge: What listens at ${file.url} is not your hub, or does not answer; it is not used.\n`);
  return undefined;
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
