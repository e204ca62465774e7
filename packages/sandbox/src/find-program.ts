import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { writtenFolderOf } from './written-folders.js';

/**
 * The absolute path of a program on PATH, or in another such list of folders. Entries that are relative are passed over: they would mean
 * the working directory. So is what code in a sandbox may have put there: what is found is run.
 */
export function findProgram(name: string, path = process.env.PATH): string | undefined {
  const folders = (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() && writtenFolderOf(path) === undefined;
  } catch {
    return false;
  }
}
