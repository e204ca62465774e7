import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '@notebridge/system/processes/environment';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { adviceOnWritten, writtenBy } from '@notebridge/system/processes/written-rule';
import { heedRecord } from '../identity/heed-record.js';
import { type Config, defaultConfig } from './config.js';
import { unreadableFile } from './fault.js';
import { findNamedFiles } from './named-files.js';
import { readTextFile, type TextRead } from './read-text-file.js';

export interface LoadConfigOptions {
  /** The file named by `--config`. It must exist; a relative path starts from the working directory. */
  file?: string | undefined;
  /** For `XDG_CONFIG_HOME`, `HOME`, and the variables that the config names. */
  env: Environment;
  /** Where it is kept which folders code may write to: no config is read there. Default: the user's own state folder. */
  stateDir?: string | undefined;
  /** Reads a file of at most so many bytes. Default: from disk. */
  readFile?: (path: string, maxBytes: number) => Promise<TextRead>;
}

/** More than any config needs; a larger file is a wrong one. */
export const maxConfigBytes = 1_048_576;

/**
 * Reads the file that was named, else the user's own if there is one, else returns the defaults. Never reads from the working
 * directory unasked: a cloned repository must not start commands.
 *
 * @throws BridgeError `bad_config`: one line with file, line and column, key, what was found, what is wanted, and what to do.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<Config> {
  const file = options.file === undefined ? userConfigFile(options.env) : resolve(options.file);
  heedRecord(options.stateDir ?? stateDir(options.env));
  assertOutsideOfWritten(file, file, 'is not read:');
  const read = await (options.readFile ?? readTextFile)(file, maxConfigBytes);
  if (read.kind === 'absent' && options.file === undefined) return { ...defaultConfig(dirname(file)), awaited: file };
  const text = textOf(read, file);
  // Loaded only now: without a file, a start must not pay for the JSON parser and the schema library.
  const { parseConfig } = await import('./parse-config.js');
  const config = parseConfig({ file, text, env: options.env });
  for (const { path, what } of findNamedFiles(config)) assertOutsideOfWritten(file, path, `names "${path}", ${what}:`);
  return config;
}

function assertOutsideOfWritten(file: string, path: string, found: string): void {
  const written = writtenBy(path);
  if (written === undefined) return;
  throw unreadableFile(file, { found: `${found} code in a sandbox may write to "${written}"`, next: adviceOnWritten(written) });
}

/** `$XDG_CONFIG_HOME/notebridge/mcp.json`, by default under `~/.config`. Relative values are ignored, as XDG demands. */
export function userConfigFile(env: Environment): string {
  const absolute = (path: string | undefined): path is string => path !== undefined && isAbsolute(path);
  const home = absolute(env.HOME) ? env.HOME : homedir();
  const configHome = absolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : join(home, '.config');
  return join(configHome, 'notebridge', 'mcp.json');
}

function textOf(read: TextRead, file: string): string {
  if (read.kind === 'text') return read.text;
  if (read.kind === 'unreadable') throw unreadableFile(file, { found: read.why, next: read.next });
  throw unreadableFile(file, { found: 'does not exist', next: 'Create it, or name another with "--config".' });
}
