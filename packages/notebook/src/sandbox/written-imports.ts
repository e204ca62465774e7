import { findImportPlaces } from '@notebridge/kit/import-places';
import { writtenFolderOf } from './written-folders.js';

/** As `writtenFolderOf`, of where a Python outside takes modules from as it starts. It would run a `sitecustomize` from there. */
export function writtenFolderOfImports(python: string): string | undefined {
  for (const path of findImportPlaces(python)) {
    const written = writtenFolderOf(path);
    if (written !== undefined) return written;
  }
  return undefined;
}
