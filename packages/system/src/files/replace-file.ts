import type { Stats } from 'node:fs';
import { access, constants, type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ignore, ignoreMissing } from '@notebridge/protocol/util/errno';

/** The path that a rename must hit. A link whose target is missing is followed as well, so that it is not replaced. */
export async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    ignoreMissing(error);
    const entry = await lstat(path).catch(ignore);
    if (entry?.isSymbolicLink() !== true) return join(await realpath(dirname(resolve(path))), basename(path));
    return followLinks(resolve(dirname(path), await readlink(path)));
  }
}

/** What stands there. Refuses folders and files without permission to write, which a rename in a writable folder would replace unasked. */
export async function inspectTarget(path: string): Promise<Stats | undefined> {
  const found = await stat(path).catch(ignoreMissing);
  if (found === undefined) return undefined;
  if (found.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' });
  await access(path, constants.W_OK);
  return found;
}

/** Matters when root changes a user's file: without it the user could no longer read it. Nobody else may give files away. */
export async function keepOwner(file: FileHandle, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  const made = await file.stat();
  if (made.uid !== uid || made.gid !== gid) await file.chown(uid, gid).catch(ignore);
}

/** Makes the rename itself last. Some systems cannot sync a folder; the file is complete either way. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(ignore);
  await handle?.sync().catch(ignore);
  await handle?.close().catch(ignore);
}
