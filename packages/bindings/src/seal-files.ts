import { createHash } from 'node:crypto';
import type { GeneratedFiles } from './model.js';

/** Sorts the files of a package and makes its hash. */
export function sealFiles(files: ReadonlyMap<string, string>, warnings: readonly string[]): GeneratedFiles {
  const sorted = new Map([...files].sort(([one], [other]) => (one < other ? -1 : 1)));
  const hash = createHash('sha256');
  // Lengths first: no two packages can run together into one text.
  for (const [path, text] of sorted) hash.update(`${path}\0${text.length}\0`).update(text);
  return { files: sorted, contentHash: hash.digest('hex'), warnings };
}
