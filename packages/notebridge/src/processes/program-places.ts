import { statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { findCodePlaces } from '@notebridge/kit/code-places';
import { searchPathOutside } from './written-rule.js';

/** How a program is started. */
export interface ProgramStart {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Where it begins. Default: where we are. */
  cwd?: string | undefined;
}

/** The paths of what a start runs, as far as it names them: its program, scripts, modules, the code that options and variables name. What a server gets as data is none. */
export function findProgramPlaces({ command, args, env, cwd = process.cwd() }: ProgramStart): string[] {
  const program = /[\\/]/.test(command) ? undefined : findOnPath(command, env.PATH ?? process.env.PATH ?? '', cwd);
  const named = findCodePlaces({ argv: [command, ...args], env, cwd });
  return program === undefined ? named : [program, ...named];
}

/** The first that is there and that no code has put there: what is started is found in the same order. */
function findOnPath(name: string, searchPath: string, cwd: string): string | undefined {
  const folders = searchPathOutside(searchPath, cwd).split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
