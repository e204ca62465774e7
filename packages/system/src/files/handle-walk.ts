import { type BigIntStats, closeSync, constants, fstat, open } from 'node:fs';
import { open as openForReading, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { type ContainedFind, type ContainedWalk, kindOf } from './contained-walk.js';

/** Holds a thing without opening it for reading: a pipe is not waited for, a device not woken. Linux; Node does not name it. */
const O_PATH = 0x200000;
const anything = O_PATH | (constants.O_NOFOLLOW ?? 0);
const folderOnly = anything | (constants.O_DIRECTORY ?? 0);
/** Descriptors are numbers here: to close one that was never read from takes no time, and so no thread. */
const hold = promisify(open);
const statHeld = promisify(fstat);
/** As many as Linux itself follows. */
const mostLinks = 40;

/**
 * Linux: name by name, each looked up in the folder that is held open (`/proc/self/fd/N/name`) and never through a link. So whatever is
 * renamed or replaced meanwhile, each step was inside of the one before. Links are read and walked the same way.
 */
export const walkByHandles: ContainedWalk = async (place, path) => {
  const trail: Trail = { base: join(place.root, ...place.inner), held: [], names: [] };
  let kept: number | undefined;
  try {
    trail.held.push(await hold(place.root, folderOnly));
    for (const name of place.inner) {
      trail.held.push(await hold(below(trail, name), folderOnly));
      letGo(trail.held.splice(0, 1));
    }
    const stats = await follow(trail, path);
    if (stats === 'outside') return stats;
    kept = lastOf(trail);
    return toFind(kept, stats, trail.names);
  } catch (error) {
    return meaningOf(error);
  } finally {
    letGo(trail.held.filter((held) => held !== kept));
  }
};

interface Trail {
  /** Where absolute links may point. */
  base: string;
  /** The place, and one handle for each name. */
  held: number[];
  names: string[];
}

/** The end of the trail becomes what the path leads to. */
async function follow(trail: Trail, path: string): Promise<BigIntStats | 'outside'> {
  let links = 0;
  const ahead = namesOf(path);
  for (;;) {
    const name = ahead.shift();
    if (name === undefined) return statHeld(lastOf(trail), { bigint: true });
    if (name === '..') {
      if (trail.names.pop() === undefined) return 'outside';
      letGo(trail.held.splice(-1));
      continue;
    }
    const found = ahead.length === 0 ? await stepToEnd(trail, name) : await stepInto(trail, name);
    if (found === undefined) continue;
    if (typeof found !== 'string') return found;
    if (++links > mostLinks) return 'outside';
    if (found.startsWith('/')) {
      if (found !== trail.base && !found.startsWith(`${trail.base}/`)) return 'outside';
      trail.names.length = 0;
      letGo(trail.held.splice(1));
      ahead.unshift(...namesOf(found.slice(trail.base.length)));
    } else ahead.unshift(...namesOf(found));
  }
}

/** Goes into a folder; the target, if the name is a link. */
async function stepInto(trail: Trail, name: string): Promise<string | undefined> {
  const path = below(trail, name);
  try {
    trail.held.push(await hold(path, folderOnly));
    trail.names.push(name);
    return undefined;
  } catch (error) {
    if (errnoOf(error) !== 'ENOTDIR') throw error;
    return readlink(path);
  }
}

/** Goes to whatever the name is, and says what; the target, if it is a link. */
async function stepToEnd(trail: Trail, name: string): Promise<BigIntStats | string> {
  const path = below(trail, name);
  const held = await hold(path, anything);
  trail.held.push(held);
  trail.names.push(name);
  const stats = await statHeld(held, { bigint: true });
  if (!stats.isSymbolicLink()) return stats;
  letGo(trail.held.splice(-1));
  trail.names.pop();
  return readlink(path);
}

function toFind(held: number, stats: BigIntStats, inner: readonly string[]): ContainedFind {
  const location = locationOf(held);
  return {
    kind: kindOf(stats),
    inner,
    stats,
    location,
    withReader: async (work) => {
      // The very thing that is held; no name is looked up for it.
      const file = await openForReading(location, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      try {
        return await work(file);
      } finally {
        await file.close();
      }
    },
    close: async () => letGo([held]),
  };
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function lastOf({ held }: Trail): number {
  const last = held.at(-1);
  if (last === undefined) throw new Error('Nothing is held');
  return last;
}

function below(trail: Trail, name: string): string {
  return `${locationOf(lastOf(trail))}/${name}`;
}

function locationOf(held: number): string {
  return `/proc/self/fd/${held}`;
}

function letGo(held: readonly number[]): void {
  for (const each of held) closeSync(each);
}

/** Whether a forbidden path exists is not revealed. EINVAL: what was a link is none any more. */
function meaningOf(error: unknown): 'absent' | 'outside' {
  switch (errnoOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ENAMETOOLONG':
    case 'EINVAL':
      return 'absent';
    case 'ELOOP':
    case 'EACCES':
    case 'EPERM':
      return 'outside';
    default:
      throw error;
  }
}
