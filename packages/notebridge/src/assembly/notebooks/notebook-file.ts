import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The path of a notebook's file with links resolved, by which two processes know that they mean the same one. It need not be there yet. */
export function realFileOf(file: string): string {
  const path = resolve(file);
  for (const toReal of [() => realpathSync(path), () => join(realpathSync(dirname(path)), basename(path))]) {
    try {
      return toReal();
    } catch {
      // Not there yet, or its folder is not: whoever opens it says so.
    }
  }
  return path;
}
