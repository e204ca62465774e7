import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readSmallFile } from './small-file.js';

/**
 * Looks up what a shim of a version manager starts, and the file that decides it: of pyenv the Pythons that it chooses in `cwd`, of asdf and mise
 * each that is installed. Empty for any other program. `wanted`: the value of `PYENV_VERSION`.
 */
export function findBehindShim(program: string, cwd: string, wanted: string | undefined): string[] {
  if (basename(dirname(program)) !== 'shims') return [];
  const root = dirname(dirname(program));
  const installed = namesIn(join(root, 'installs/python')).map((name) => join(root, 'installs/python', name, 'bin/python'));
  const versions = namesIn(join(root, 'versions'));
  if (versions.length === 0) return installed;
  const { names, files } = wanted ? { names: wanted.split(':'), files: [] } : chosenIn(cwd, root);
  // A name may be that of a whole line of versions.
  const meant = names.flatMap((name) => [name, ...versions.filter((version) => version.startsWith(`${name}.`))]);
  return [...files, ...installed, ...meant.map((version) => join(root, 'versions', version, 'bin/python'))];
}

/** By the nearest file of the folder or one above, else by that of the user. */
function chosenIn(cwd: string, root: string): { names: string[]; files: string[] } {
  for (const path of [...foldersFrom(cwd).map((folder) => join(folder, '.python-version')), join(root, 'version')]) {
    const names = readSmallFile(path)?.replace(/#.*/g, '').split(/\s+/).filter(Boolean) ?? [];
    if (names.length > 0) return { names, files: [path] };
  }
  return { names: [], files: [] };
}

function foldersFrom(folder: string): string[] {
  return dirname(folder) === folder ? [folder] : [folder, ...foldersFrom(dirname(folder))];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
