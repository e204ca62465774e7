import { lstat, readdir, readlink, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '@notebridge/protocol/util/errno';
import type { PublishedNames } from './published-names.js';
import { removeTree } from './remove-tree.js';

export interface Processes {
  /** The number of this one. */
  own: number;
  exists(pid: number): boolean;
}

/** Old folders that are kept whatever their age, for how long any is kept, and how many there are at most. */
const keptFolders = 4;
const keptMs = 10 * 60_000;
const mostFolders = 32;

/** A writer that was killed between its two renames left the folder under another name. True if it stands in its place again. */
export async function putBack(names: PublishedNames, processes: Processes): Promise<boolean> {
  for (const name of await namesIn(names.parent)) {
    const temporary = names.temporaryOf(name);
    if (temporary?.purpose !== 'old' || !isAbandoned(temporary, processes)) continue;
    try {
      await rename(join(names.parent, name), names.path);
      return true;
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
  return false;
}

/**
 * Removes what writers that are gone have left, and the folders of old packages that are not likely to be open. A reader that has one open
 * for longer goes on with what it has loaded. Never rejects: what is in the way today may go tomorrow.
 */
export async function sweep(names: PublishedNames, processes: Processes): Promise<void> {
  const current = await readlink(names.path).catch(() => undefined);
  const old: { name: string; changedMs: number }[] = [];
  for (const name of await namesIn(names.parent)) {
    const temporary = names.temporaryOf(name);
    if (temporary !== undefined && isAbandoned(temporary, processes)) await remove(names, name);
    if (name !== current && names.isVersion(name)) {
      const found = await lstat(join(names.parent, name)).catch(() => undefined);
      if (found !== undefined) old.push({ name, changedMs: found.mtimeMs });
    }
  }
  old.sort((one, other) => other.changedMs - one.changedMs);
  const now = Date.now();
  for (const [index, { name, changedMs }] of old.entries()) {
    const isKept = index < keptFolders || (index < mostFolders && now - changedMs < keptMs);
    if (!isKept) await remove(names, name);
  }
}

/** True if its maker is gone. A process with our own number that is not us has ended: in a container all hubs have the same. */
export function isAbandoned({ pid, isOwn }: { pid: number; isOwn: boolean }, { own, exists }: Processes): boolean {
  return pid === own ? !isOwn : !exists(pid);
}

/** A name of ours that is itself a link is removed, not what it points to. */
async function remove(names: PublishedNames, name: string): Promise<void> {
  await removeTree(join(names.parent, name)).catch(() => {});
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
