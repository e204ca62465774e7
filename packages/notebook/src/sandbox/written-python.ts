import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findWritten, isWithin } from '@notebridge/kit/find-written';
import { readEnvironment } from '../kernels/environment.js';
import { findLinks } from './program-links.js';
import type { PythonPlaces } from './python-places.js';
import { writtenFolderOf } from './written-folders.js';

/**
 * The places of a Python that code may have put there, by its files: it is not run to be asked. What its files name (`home`, links, path
 * files) is shown for one thing alone, the Python that it was made of. Throws where it is no environment of that folder.
 */
export function findWrittenPlaces(python: string, folder: string): PythonPlaces {
  const prefix = toEnvironmentFolder(python);
  const real = prefix === undefined ? undefined : toRealPath(prefix);
  const fault = (reason: string) => {
    const next =
      writtenFolderOf(folder) === undefined ? 'use "--files ro"' : `take that back: notebridge grants files --withdraw ${folder}`;
    return new Error(
      `"${python}" cannot be used: it lies in "${folder}", to which code in a sandbox may write, and ${reason}. Choose a Python by a path outside, or ${next}`,
    );
  };
  if (prefix === undefined || real === undefined) throw fault('it is no environment (pyvenv.cfg, conda-meta)');
  // Code could have put a link to any folder in its place.
  if (!isWithin(real, folder)) throw fault(`its environment is the link "${prefix}", which leads out of that folder`);
  const executable = real + python.slice(prefix.length);
  const home = readEnvironment(real)?.home;
  const links = findLinks(executable).filter((path) => writtenFolderOf(path) === undefined);
  const bases = [...links, ...(home === undefined ? [] : [dirname(home)])].flatMap((path) => [path, toRealPath(path) ?? path]);
  const ofBases = [...new Set(bases)].filter(isInstallation).flatMap((base) => ['bin', 'lib'].map((name) => join(base, name)));
  return { executable, prefix: real, own: [real, ...ofBases.filter((path) => existsSync(path))], others: [] };
}

/** As `writtenFolderOf`, of what an interpreter is made of: also the library that its environment names. `given`: a folder that code will have. */
export function writtenFolderOfPython(python: string, given?: string): string | undefined {
  const home = readEnvironment(dirname(dirname(python)))?.home;
  const parts = [python, ...(home === undefined ? [] : [dirname(home)])];
  const folders = parts.map((part) => writtenFolderOf(part) ?? (given === undefined ? undefined : findWritten(part, [given])));
  return folders.find((folder) => folder !== undefined);
}

function toEnvironmentFolder(python: string): string | undefined {
  const folder = dirname(dirname(python));
  return basename(dirname(python)) === 'bin' && readEnvironment(folder) !== undefined ? folder : undefined;
}

/** A Python with its own library, and no environment: of another project it would show what is in it. */
function isInstallation(prefix: string): boolean {
  if (writtenFolderOf(prefix) !== undefined || existsSync(join(prefix, 'pyvenv.cfg'))) return false;
  const libraries = namesIn(join(prefix, 'lib')).filter((name) => /^(python|pypy)3(\.\d+)?$/.test(name));
  return libraries.some((name) => isPlainFile(join(prefix, 'lib', name, 'os.py')));
}

function isPlainFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function toRealPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
