import { closeSync, constants, open } from 'node:fs';
import { readdir, rm, rmdir, unlink } from 'node:fs/promises';
import { platform } from 'node:os';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { errnoOf } from '@notebridge/protocol/util/errno';

const hold = promisify(open);
const folderOnly = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_DIRECTORY ?? 0);
/** Deeper than anything of ours; each level holds a descriptor. */
const deepest = 64;
const mostLooks = 10;

/**
 * Removes a file, link or folder with all that is in it, in a folder that others may write to. On Linux each folder on the way down is held
 * open, so that one that is swapped for a link meanwhile does not have us empty what the link leads to. Elsewhere that is a race. What is
 * gone already is no fault; rejects with the system's error for what cannot be removed.
 */
export async function removeTree(path: string): Promise<void> {
  if (platform() !== 'linux') return rm(path, { recursive: true, force: true });
  await within(dirname(path), (parent) => removeBelow(parent, basename(path), deepest));
}

async function removeBelow(parent: string, name: string, depth: number): Promise<void> {
  if (depth === 0) throw Object.assign(new Error(`"${name}" is nested too deeply`), { code: 'ELOOP' });
  const path = `${parent}/${name}`;
  for (let look = 1; !(await removeEntry(path)); look++) {
    try {
      await within(path, async (location) => {
        for (const inner of await readdir(location)) await removeBelow(location, inner, depth - 1);
      });
      return await rmdir(path).catch(orGone);
    } catch (error) {
      // It was swapped, or something was put into it: it is looked at anew.
      if (look === mostLooks || !['ENOTDIR', 'ELOOP', 'ENOTEMPTY'].includes(errnoOf(error) ?? '')) throw error;
    }
  }
}

/** False for a folder. */
async function removeEntry(path: string): Promise<boolean> {
  try {
    await unlink(path);
  } catch (error) {
    // Other systems than Linux say EPERM of a folder, and so may a file system here.
    if (errnoOf(error) === 'EISDIR' || errnoOf(error) === 'EPERM') return false;
    orGone(error);
  }
  return true;
}

async function within(path: string, work: (location: string) => Promise<void>): Promise<void> {
  let held: number;
  try {
    held = await hold(path, folderOnly);
  } catch (error) {
    return orGone(error);
  }
  try {
    await work(`/proc/self/fd/${held}`);
  } finally {
    closeSync(held);
  }
}

function orGone(error: unknown): void {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
