import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../util/errno.js';

/** Texts by path, with `/`, relative to a folder. */
export type FileTree = ReadonlyMap<string, string>;

/** Files under way at once: enough to keep a disk busy, few enough for any limit on open files. */
const atOnce = 32;

/** Writes a tree into a folder that does not exist yet, readable for every user, whatever the umask. */
export async function writeTree(folder: string, files: FileTree): Promise<void> {
  const folders = new Set([folder]);
  for (const path of files.keys()) {
    for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(join(folder, at));
  }
  // A folder comes before what is in it: it is shorter.
  for (const each of [...folders].sort((one, other) => one.length - other.length)) {
    await mkdir(each);
    await chmod(each, 0o755);
  }
  await inTurns([...files], async ([path, text]) => {
    const file = join(folder, path);
    await writeFile(file, text, { flag: 'wx' });
    await chmod(file, 0o644);
  });
}

/** True if the folder holds these files and no others, but for what interpreters put there for themselves. */
export async function isSameTree(folder: string, files: FileTree): Promise<boolean> {
  const found = await filesIn(folder);
  if (found.length !== files.size || !found.every((path) => files.has(path))) return false;
  let isSame = true;
  await inTurns([...files], async ([path, text]) => {
    if (isSame && (await readText(join(folder, path))) !== text) isSame = false;
  });
  return isSame;
}

/** The text of a file; undefined if there is none that can be read. */
export async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

/** The files of a folder and of those in it, without caches; none if there is no such folder. */
async function filesIn(folder: string, prefix = ''): Promise<string[]> {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true }).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  const found: string[] = [];
  for (const entry of entries) {
    if (isCache(entry.name)) continue;
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesIn(folder, `${path}/`)));
    else found.push(path);
  }
  return found;
}

/** What Python, type checkers and notebooks leave behind in folders that they read. */
export function isCache(name: string): boolean {
  return ['__pycache__', '.mypy_cache', '.ruff_cache', '.ipynb_checkpoints', '.DS_Store'].includes(name);
}

async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += atOnce) await Promise.all(items.slice(at, at + atOnce).map(work));
}
