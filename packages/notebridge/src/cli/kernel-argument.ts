import { statSync } from 'node:fs';
import { resolve, sep } from 'node:path';

/**
 * What `--kernel` names, as any process can find it: a path becomes a whole one, since another process may open the notebook, in a
 * folder of its own. `.venv` is a path too where such a folder is there; any other single word is the name of a kernelspec.
 */
export function toWholeKernel(kernel: string, from: string = process.cwd()): string {
  const isPath = kernel.includes('/') || kernel.includes(sep) || (kernel.startsWith('.') && isFolder(resolve(from, kernel)));
  return isPath ? resolve(from, kernel) : kernel;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
