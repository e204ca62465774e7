import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The programs that a shim of pyenv, asdf or mise, or `pyenv` itself, may start: in each Python that is installed. Empty for any other program. */
export function findBehindShim(program: string): string[] {
  if (basename(dirname(program)) !== 'shims' && basename(program) !== 'pyenv') return [];
  const root = dirname(dirname(program));
  return ['versions', 'installs/python'].flatMap((folder) =>
    namesIn(join(root, folder)).flatMap((version) => ['python', basename(program)].map((name) => join(root, folder, version, 'bin', name))),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
