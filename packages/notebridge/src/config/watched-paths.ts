import { lstat, readlink, stat } from 'node:fs/promises';
import { dirname, join, parse, resolve, sep } from 'node:path';

/** The folders whose entries decide what stands at a path, and those entries, all absolute. */
export interface WatchedPaths {
  folders: string[];
  entries: string[];
  /** Another text when other folders stand at those paths, or other paths have to be watched. */
  identity: string;
}

/**
 * Finds what has to be watched to notice every change of a file: the folder that it stands in, and those of all symbolic links
 * on the way to it, be they links to the file or to a folder above it (Kubernetes swaps one to replace the files of a volume at
 * once). Of a file that does not exist, the way is followed as far as there is one.
 */
export async function findWatchedPaths(file: string): Promise<WatchedPaths> {
  const entries = new Set<string>();
  let { root, steps } = split(resolve(file));
  let here = root;
  for (let links = 0; steps.length > 0; ) {
    const entry = join(here, steps[0] ?? '');
    steps = steps.slice(1);
    const found = await lstat(entry).catch(() => undefined);
    if (found === undefined || steps.length === 0) entries.add(entry);
    if (found === undefined) break;
    here = entry;
    if (!found.isSymbolicLink()) continue;
    entries.add(entry);
    if (++links > mostLinks) break;
    const target = resolve(dirname(entry), await readlink(entry).catch(() => ''));
    ({ root, steps } = { root: parse(target).root, steps: [...split(target).steps, ...steps] });
    here = root;
  }
  const folders = [...new Set([...entries].map((entry) => dirname(entry)))].sort();
  const found = await Promise.all(folders.map((folder) => stat(folder).catch(() => undefined)));
  const inodes = found.map((folder) => (folder === undefined ? '' : `${folder.dev}:${folder.ino}`));
  return { folders, entries: [...entries], identity: JSON.stringify([folders, [...entries].sort(), inodes]) };
}

/** As many as systems follow before they report a loop. */
const mostLinks = 40;

function split(path: string): { root: string; steps: string[] } {
  const { root } = parse(path);
  return {
    root,
    steps: path
      .slice(root.length)
      .split(sep)
      .filter((step) => step !== ''),
  };
}
