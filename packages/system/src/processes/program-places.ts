import { statSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import { findCodePlaces } from '../starts/code-places.js';
import { foldersWritten, searchPathOutside } from './written-rule.js';

/** How a program is started. */
export interface ProgramStart {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Where it begins. Default: an empty folder. */
  cwd?: string | undefined;
}

/** As `findCodePlaces`, with programs found on the `PATH` that such a program gets. */
export function findProgramPlaces({ command, args, env, cwd = '/' }: ProgramStart): string[] {
  // The first that is there and that no code has put there: what is started is found in the same order.
  const folders = searchPathOutside(env.PATH ?? process.env.PATH ?? '', cwd)
    .split(delimiter)
    .map((entry) => (isAbsolute(entry) ? entry : `${cwd}${sep}${entry}`));
  const known = new Map<string, string | undefined>();
  const findProgram = (name: string): string | undefined => {
    if (!known.has(name)) known.set(name, folders.map((folder) => join(folder, name)).find(isProgram));
    return known.get(name);
  };
  return findCodePlaces({ argv: [command, ...args], env, cwd, findProgram, given: foldersWritten() });
}

/** The system goes on to the next one where it may not run what is there. */
function isProgram(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && (process.platform === 'win32' || (found.mode & 0o111) !== 0);
  } catch {
    // No name of a file: too long, or with a zero in it.
    return false;
  }
}
