import { existsSync } from 'node:fs';
import { isAbsolute, normalize } from 'node:path';

/** Where Debian keeps the parts of Node that it does not compile in. */
const distributed = '/usr/share/nodejs';
/** The list of libraries outside the system's usual folders. */
const libraryList = '/etc/ld.so.cache';
const usualFolders = /^(\/usr)?\/lib/;

/** What this Node was linked with, the loader included, by the paths where the loader looks for it. */
export function findSharedLibraries(): string[] {
  const { report } = process;
  // Otherwise it looks up the names of everybody we are connected with.
  const { excludeNetwork } = report as { excludeNetwork?: boolean };
  Object.assign(report, { excludeNetwork: true });
  const { sharedObjects } = report.getReport() as { sharedObjects: string[] };
  Object.assign(report, { excludeNetwork });
  const libraries = sharedObjects.filter((path) => isAbsolute(path) && !path.endsWith('.node')).map((path) => normalize(path));
  const more = [distributed, ...(libraries.every((path) => usualFolders.test(path)) ? [] : [libraryList])];
  return [...libraries, ...more.filter((path) => existsSync(path))];
}
