import { mkdir, open, realpath, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { ContainedFolder } from './contained-folder.js';

/** How much is copied at most. */
export interface CopyBounds {
  /** Files, folders and links together. */
  entries: number;
  bytes: number;
  /** Called with the path of each entry before it is copied; what it throws ends the copy. */
  assertEntry?: ((path: string) => void) | undefined;
}

/** What came of copying a folder. `why` completes the sentence "the folder …". */
export type FolderCopy = { kind: 'copied' } | { kind: 'refused'; why: string };

const headBytes = 200;
/** Nothing runs or imports these, and they may be large. */
const leftOut = new Set(['.git', '.hg', '.svn', '__pycache__']);

/**
 * Copies a contained folder with all that is below it into a new one, in a folder that no other user can write to. Each file is proven to be inside
 * by itself; of a folder that changes meanwhile the copy may hold some files of before and some of after. A link that stays inside stays a
 * link, now inside of the copy; one that leads out is left out, and so is what cannot be read.
 */
export async function copyContained(folder: ContainedFolder, target: string, bounds: CopyBounds): Promise<FolderCopy> {
  await mkdir(target, { mode: 0o700 });
  const left = { ...bounds };
  const waiting = ['.'];
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    for (const { name, path, kind, linkTo } of await folder.list(at, left.entries + 1)) {
      if (leftOut.has(name) || kind === 'outside' || kind === 'other') continue;
      if (--left.entries < 0) return refused(`holds more than ${bounds.entries} files, folders and links`);
      bounds.assertEntry?.(join(folder.path, path));
      const place = join(target, path);
      if (linkTo !== undefined) {
        await symlink(relative(dirname(place), join(target, linkTo)) || '.', place, kind === 'folder' ? 'dir' : 'file');
      } else if (kind === 'folder') {
        await mkdir(place, { mode: 0o700 });
        waiting.push(path);
      } else {
        const copy = await folder.copy(path, place, left.bytes);
        if (copy.kind === 'copied') left.bytes -= copy.bytes;
        else if (copy.kind === 'unreadable' && copy.isTooLarge) return refused(`holds more than ${bounds.bytes} bytes`);
      }
    }
  }
  return { kind: 'copied' };
}

/** A file of a copy: its path without links, and its first bytes as text. Undefined if there is none. */
export async function findInCopy(copy: string, path: string): Promise<{ path: string; head: string } | undefined> {
  const real = await realpath(join(copy, path)).catch(() => undefined);
  if (real === undefined) return undefined;
  const file = await open(real);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return { path: real, head: buffer.toString('latin1', 0, bytesRead) };
  } finally {
    await file.close();
  }
}

function refused(why: string): FolderCopy {
  return { kind: 'refused', why };
}
