import { existsSync, lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findWritten, isWithin } from '@notebridge/system/starts/find-written';
import { namesIn, realPathOf } from '@notebridge/system/starts/seen-files';
import { shellWord } from '@notebridge/system/starts/shell-word';
import { readEnvironment } from './environment.js';
import { findLinks } from './program-links.js';
import type { PythonPlaces } from './python-places.js';
import { findSystemFiles } from './system-files.js';
import { writtenFolderOf } from './written-folders.js';

/**
 * The places of a Python that code may have put there, by its files: it is not run to be asked. What its files name (`home`, links, path
 * files) is shown for one thing alone, the Python that it was made of. Throws where it is no environment of that folder.
 */
export function findWrittenPlaces(python: string, folder: string): PythonPlaces {
  const prefix = toEnvironmentFolder(python);
  const real = prefix === undefined ? undefined : realPathOf(prefix);
  const fault = (reason: string) => {
    const next =
      writtenFolderOf(folder) === undefined
        ? 'use "--files ro"'
        : `take that back: notebridge grants files --withdraw ${shellWord(folder)}`;
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
  const bases = [...links, ...(home === undefined ? [] : [dirname(home)])].flatMap((path) => [path, realPathOf(path) ?? path]);
  const installations = [...new Set(bases)].filter(isInstallation).map(placesOfInstallation);
  const own = [real, ...installations.flatMap(({ shown }) => shown)];
  return { executable, prefix: real, own, others: [], hidden: installations.flatMap(({ hidden }) => hidden) };
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
  return librariesOf(prefix).length > 0;
}

function librariesOf(prefix: string): string[] {
  const libraries = namesIn(join(prefix, 'lib')).filter((name) => /^(python|pypy)3(\.\d+)?$/.test(name));
  return libraries.map((name) => join(prefix, 'lib', name)).filter((library) => isPlainFile(join(library, 'os.py')));
}

/**
 * What the interpreter itself needs of the folder that it was installed in: that may be an environment of another project, or hold more than a
 * Python (`~/.local`, the home folder). Its packages are what somebody has installed there.
 */
function placesOfInstallation(prefix: string): { shown: string[]; hidden: string[] } {
  const [programs, libraries] = [join(prefix, 'bin'), join(prefix, 'lib')];
  // Of the system's every sandbox is shown all.
  const isOfSystem = findSystemFiles().some((path) => isWithin(libraries, path));
  if (isOfSystem) return { shown: [programs, libraries].filter((path) => existsSync(path)), hidden: [] };
  const own = librariesOf(prefix);
  const interpreters = namesIn(programs).filter((name) => /^(python|pypy)(3(\.\d+)?t?)?$/.test(name));
  const shared = namesIn(libraries).filter((name) => /^lib[\w.+-]+\.(so|dylib)(\.[\d.]+)?$/.test(name));
  const files = [...interpreters.map((name) => join(programs, name)), ...shared.map((name) => join(libraries, name))];
  const packages = own.flatMap((library) => ['site-packages', 'dist-packages'].map((name) => join(library, name)));
  return { shown: [...own, ...files.filter((path) => isPlainFile(realPathOf(path) ?? path))], hidden: packages.filter(isFolder) };
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isPlainFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
