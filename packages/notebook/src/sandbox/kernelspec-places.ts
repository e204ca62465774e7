import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { findPythonPlaces } from './python-places.js';

/** Where users' own kernelspecs are, as `jupyter --paths` has it on Linux. */
export function userDataFolder(): string {
  const { JUPYTER_DATA_DIR: named, XDG_DATA_HOME: data } = process.env;
  return named || join(data || join(homedir(), '.local/share'), 'jupyter');
}

/**
 * What the program of a kernelspec reads, where that is another one than the interpreter that starts it. The first one of the name, in the
 * order in which Jupyter looks.
 */
export async function findKernelspecPlaces(name: string, prefix: string): Promise<string[]> {
  const bases = [userDataFolder(), join(prefix, 'share/jupyter'), '/usr/local/share/jupyter', '/usr/share/jupyter'];
  const folder = bases.map((base) => join(base, 'kernels', name)).find((path) => existsSync(join(path, 'kernel.json')));
  if (folder === undefined) return [];
  const [program = ''] = readProgram(join(folder, 'kernel.json'));
  if (!isAbsolute(program) || !existsSync(program)) return [folder];
  if (/^python[\d.]*$/.test(basename(program))) {
    const { own, others } = await findPythonPlaces(program);
    return [folder, ...own, ...others];
  }
  return [folder, basename(dirname(program)) === 'bin' && dirname(dirname(program)) !== '/' ? dirname(dirname(program)) : program];
}

function readProgram(path: string): string[] {
  try {
    const { argv } = JSON.parse(readFileSync(path, 'utf8')) as { argv?: unknown };
    return Array.isArray(argv) ? argv.map(String) : [];
  } catch {
    // The helper says what is wrong with it.
    return [];
  }
}
