import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/**
 * True if two paths, with links resolved, name one file in one folder: a folder that is mounted at two places has two paths. A hard link
 * is another file: what is saved under one name is not seen under the other.
 */
export function isSameFile(one: string, other: string): boolean {
  if (basename(one) !== basename(other)) return false;
  try {
    const [a, b] = [one, other].map((path) => statSync(dirname(path), { bigint: true }));
    return a !== undefined && b !== undefined && a.ino !== 0n && a.dev === b.dev && a.ino === b.ino;
  } catch {
    return false;
  }
}
