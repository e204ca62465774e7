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

/** As `findCodePlaces`, with programs found on the `PATH` that such a program gets. What it gets as data is none. */
export function findProgramPlaces({ command, args, env, cwd = '/' }: ProgramStart): string[] {
  // The first that is there and that no code has put there: what is started is found in the same order.
  const folders = searchPathOutside(env.PATH ?? process.env.PATH ?? '', cwd)
    .split(delimiter)
    .filter(isAbsolute);
  const known = new Map<string, string | undefined>();
  const findProgram = (name: string): string | undefined => {
    if (!known.has(name)) known.set(name, folders.map((folder) => join(folder, name)).find(isFile));
    return known.get(name);
  };
  return findCodePlaces({ argv: [command, ...args], env, cwd, findProgram });
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // No name of a file: too long, or with a zero in it.
    return false;
  }
}
