import { statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { findCodePlaces } from '@notebridge/kit/code-places';
import { searchPathOutside } from './written-rule.js';

/** How a program is started. */
export interface ProgramStart {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Where it begins. Default: an empty folder. */
  cwd?: string | undefined;
}

/** As `findCodePlaces`, with programs found on the `PATH` that such a server gets. What a server gets as data is none. */
export function findProgramPlaces({ command, args, env, cwd = '/' }: ProgramStart): string[] {
  const searchPath = env.PATH ?? process.env.PATH ?? '';
  return findCodePlaces({ argv: [command, ...args], env, cwd, findProgram: (name) => findOnPath(name, searchPath, cwd) });
}

/** The first that is there and that no code has put there: what is started is found in the same order. */
function findOnPath(name: string, searchPath: string, cwd: string): string | undefined {
  const folders = searchPathOutside(searchPath, cwd).split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
