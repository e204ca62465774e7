import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readdir } from 'node:fs/promises';
import { platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { appendAll } from '@notebridge/protocol/util/long-lists';

/** Texts by path, with `/`, relative to a folder. */
export type FileTree = ReadonlyMap<string, string>;

/** Files under way at once: enough to keep a disk busy, few enough for any limit on open files. */
const atOnce = 32;

/**
 * Writes a tree into a folder that does not exist yet, readable for every user, whatever the umask. Others may write to the folder around
 * it: on Linux each folder is held open from when it was made, so nothing is written through a link that is put there meanwhile.
 */
export async function writeTree(folder: string, files: FileTree): Promise<void> {
  const held: FileHandle[] = [];
  const places = new Map<string, string>();
  const make = async (name: string, place: string): Promise<void> => {
    await mkdir(place);
    places.set(name, await pin(place, held));
  };
  const placeOf = (path: string): string => join(places.get(dirname(path)) ?? folder, basename(path));
  try {
    await make('.', folder);
    for (const path of foldersOf(files)) await make(path, placeOf(path));
    await inTurns([...files], ([path, text]) => writeNew(placeOf(path), text));
  } finally {
    await Promise.all(held.map((each) => each.close()));
  }
}

/** A folder comes before what is in it: it is shorter. */
function foldersOf(files: FileTree): string[] {
  const folders = new Set<string>();
  for (const path of files.keys()) for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(at);
  return [...folders].sort((one, other) => one.length - other.length);
}

/** A path to the folder that was just made, whatever stands under its name later. */
async function pin(path: string, held: FileHandle[]): Promise<string> {
  if (platform() !== 'linux') {
    await chmod(path, 0o755);
    return path;
  }
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  held.push(handle);
  await handle.chmod(0o755);
  return `/proc/self/fd/${handle.fd}`;
}

async function writeNew(path: string, text: string): Promise<void> {
  // `wx` makes a new file or fails: no link is followed.
  const file = await open(path, 'wx');
  try {
    await file.writeFile(text);
    await file.chmod(0o644);
  } finally {
    await file.close();
  }
}

/** True if the folder holds these files and no others, but for what interpreters put there for themselves. */
export async function isSameTree(folder: string, files: FileTree): Promise<boolean> {
  const found = await filesIn(folder);
  if (found.length !== files.size || !found.every((path) => files.has(path))) return false;
  let isSame = true;
  await inTurns([...files], async ([path, text]) => {
    if (isSame && (await readText(join(folder, path), Buffer.byteLength(text))) !== text) isSame = false;
  });
  return isSame;
}

/** The text of a file; undefined if there is none, or something that is to keep us busy: a link, a pipe, more than `maxBytes`. */
export async function readText(path: string, maxBytes: number): Promise<string | undefined> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch(() => undefined);
  try {
    const found = await file?.stat();
    if (file === undefined || found?.isFile() !== true || found.size > maxBytes) return undefined;
    return await file.readFile('utf8');
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
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
    if (entry.isDirectory()) appendAll(found, await filesIn(folder, `${path}/`));
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
