import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { BridgeError } from '@notebridge/protocol/core/errors';
import spawn from 'cross-spawn';
import { findCodePlaces } from '../starts/code-places.js';
import type { Environment } from './environment.js';
import { findProgramPlaces, type ProgramStart } from './program-places.js';
import { adviceOnWritten, foldersWritten, lookForWritten, searchPathOutside } from './written-rule.js';

/** A program that a config or a person names, with all that decides what it runs. */
export interface OutsideStart extends ProgramStart {
  /** Where it begins. Default: the working directory of this process. */
  cwd?: string | undefined;
  /** What it gets of an environment that nobody wrote for it: what leads to code in such a folder is left out, as it is from `PATH`. */
  inherited?: Environment | undefined;
  /** It takes nothing from where it begins. Default false: the folder is judged, too. */
  beginsAnywhere?: boolean | undefined;
  /** Words at the end that come to us again: we judge them there. */
  wordsForUs?: readonly string[] | undefined;
  /** A variable of ours, which says nothing to the program. */
  marker?: Readonly<Record<string, string>> | undefined;
}

/**
 * Starts a program outside of the sandbox. Every program that a config or a person names is started here, so that none is without the rule: not
 * if its words, variables, first line or Python name code where code in a sandbox may write.
 *
 * @throws BridgeError `bad_usage` by the rule, or what Node throws for words that no system takes.
 */
export function startOutside(start: OutsideStart, options: Omit<SpawnOptions, 'env' | 'cwd'>): ChildProcess {
  const { command, args, cwd, wordsForUs = [], marker } = start;
  return spawn(command, [...args, ...wordsForUs], { ...options, cwd, env: { ...assertStartsOutside(start), ...marker } });
}

/** As `startOutside`, and starts nothing. Returns the environment that the program may have. */
export function assertStartsOutside(start: OutsideStart): Record<string, string> {
  const { command, args, cwd = process.cwd(), inherited = {} } = start;
  const env = { ...withoutWritten(inherited, cwd), ...withPathOutside(start.env, cwd) };
  const look = lookForWritten();
  if (look === undefined) return env;
  const places = findProgramPlaces({ command, args, env, cwd });
  for (const path of start.beginsAnywhere === true ? places : [cwd, ...places]) {
    const folder = look(path);
    if (folder === undefined) continue;
    const how = path === folder ? 'which its command line names' : `where its "${path}" lies`;
    const message = `code in a sandbox may write to "${folder}", ${how}. ${adviceOnWritten(folder)}`;
    throw new BridgeError('bad_usage', message, { data: { path, folder } });
  }
  return env;
}

/** What it starts by name in turn is not found in such a folder either. */
function withPathOutside(env: Readonly<Record<string, string>>, cwd: string): Record<string, string> {
  return env.PATH === undefined ? env : { ...env, PATH: searchPathOutside(env.PATH, cwd) };
}

function withoutWritten(env: Environment, cwd: string): Record<string, string> {
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const look = lookForWritten();
  if (look === undefined) return Object.fromEntries(set);
  const given = foldersWritten();
  const isOutside = ([name, value]: [string, string]): boolean =>
    name === 'PATH' || findCodePlaces({ argv: [], env: { [name]: value }, cwd, given }).every((path) => look(path) === undefined);
  return withPathOutside(Object.fromEntries(set.filter(isOutside)), cwd);
}
