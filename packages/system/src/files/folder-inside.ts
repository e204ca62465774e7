import { lstat, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { isWithin } from '../starts/find-written.js';
import { ContainedFolder } from './contained-folder.js';

/** Says in which folder a path lies, if code in a sandbox may write there. */
export type WrittenBy = (path: string) => string | undefined;

/**
 * `path`, a folder below `folder`, where code may write: held so that no link leads out of that, whatever code replaces on the way. What is
 * missing is made. Rejects with the system's error, or one that says that a link leads elsewhere.
 */
export async function makeFolderInside(path: string, folder: string): Promise<ContainedFolder> {
  const missing: string[] = [];
  let there = path;
  while ((await lstat(there).catch(orAbsent)) === undefined) {
    missing.unshift(basename(there));
    there = dirname(there);
  }
  let inside = await openInside(there, folder);
  for (const name of missing) {
    await inside.holdLocation((location) => mkdir(join(location, name)).catch(unlessThere));
    inside = (await inside.enter(name)) ?? failOutside(folder);
  }
  return inside;
}

/** As `makeFolderInside`, of a folder that is there. */
export async function openInside(path: string, folder: string): Promise<ContainedFolder> {
  const real = await realpath(path);
  const inside = isWithin(real, folder)
    ? await (await ContainedFolder.open(folder))?.enter(relative(folder, real).replaceAll(sep, '/') || '.')
    : undefined;
  return inside ?? failOutside(folder);
}

export function failOutside(folder: string): never {
  throw new Error(`a link in "${folder}", to which code in a sandbox may write, leads out of that folder`);
}

function orAbsent(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}

function unlessThere(error: unknown): void {
  if (errnoOf(error) !== 'EEXIST') throw error;
}
