import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { platform } from 'node:os';
import { join, relative, sep } from 'node:path';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { type ContainedPlace, type ContainedWalk, kindOf } from './contained-walk.js';

/** macOS: refuses a link anywhere in the path, not only at its end. Not tested on a Mac. */
const noFollowAny = platform() === 'darwin' ? 0x20000000 : 0;
const toRead = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | noFollowAny;

/**
 * Where there is no walk by handles. The real path is found first, must be inside, and is then opened. On macOS no link is followed in
 * that. On Windows a folder on the way could be replaced in between, so the path is looked at once more: a race, though a narrow one.
 */
export const walkByPath: ContainedWalk = async (place, path) => {
  const real = await resolveInside(place, path);
  if (real === undefined) return 'absent';
  if (real === 'outside') return 'outside';
  const handle = await openInside(real);
  if (typeof handle === 'string') return handle;
  try {
    const stats = await handle.stat({ bigint: true });
    if (!(await standsStill(place, path, stats))) {
      await handle.close();
      return 'outside';
    }
    return {
      kind: kindOf(stats),
      inner: relative(join(place.root, ...place.inner), real)
        .split(sep)
        .filter(Boolean),
      stats,
      location: real,
      withReader: (work) => work(handle),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

/** The real path of what stands at a path inside; undefined if nothing does. */
async function resolveInside(place: ContainedPlace, path: string): Promise<string | 'outside' | undefined> {
  const base = join(place.root, ...place.inner);
  try {
    const real = await realpath(join(base, path));
    return holds(base, real) ? real : 'outside';
  } catch (error) {
    // What exists outside is not revealed.
    if (!holds(base, join(base, path))) return 'outside';
    return errnoOf(error) === 'ELOOP' || errnoOf(error) === 'EACCES' ? 'outside' : undefined;
  }
}

function holds(base: string, path: string): boolean {
  const inner = relative(base, path);
  return inner === '' || (inner !== '..' && !inner.startsWith(`..${sep}`) && join(base, inner) === path);
}

async function openInside(real: string): Promise<FileHandle | 'absent' | 'outside'> {
  try {
    return await open(real, toRead);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'absent';
    if (errnoOf(error) === 'ELOOP') return 'outside';
    throw error;
  }
}

async function standsStill(place: ContainedPlace, path: string, { ino, dev }: BigIntStats): Promise<boolean> {
  const again = await resolveInside(place, path);
  const standing = again === undefined || again === 'outside' ? undefined : await lstat(again, { bigint: true }).catch(() => undefined);
  return standing?.ino === ino && standing.dev === dev;
}
