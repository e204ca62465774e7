import { basename, dirname, join } from 'node:path';
import { namesIn } from './seen-files.js';

/** The programs that a shim of pyenv, asdf or mise, or `pyenv` itself, may start: in each Python that is installed. Empty for any other program. */
export function findBehindShim(program: string): string[] {
  if (basename(dirname(program)) !== 'shims' && basename(program) !== 'pyenv') return [];
  const root = dirname(dirname(program));
  return ['versions', 'installs/python'].flatMap((folder) =>
    namesIn(join(root, folder)).flatMap((version) => ['python', basename(program)].map((name) => join(root, folder, version, 'bin', name))),
  );
}
