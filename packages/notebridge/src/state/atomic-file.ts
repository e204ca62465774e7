import { randomBytes } from 'node:crypto';
import { access, constants, type FileHandle, lstat, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errnoOf } from '../util/errno.js';
import { systemFault } from './system-fault.js';

export interface WriteFileAtomicOptions {
  /** Permission bits of a file that does not exist yet. Default 0o600. An existing file keeps the bits it has. */
  mode?: number;
  /**
   * For secrets, in folders that others may write to: the file becomes a new one with exactly `mode`, whatever stood there, and a
   * link that somebody laid there is replaced, not followed. Default false.
   */
  anew?: boolean;
}

/**
 * Replaces a file so that readers see the old text or the new, never a part, also after a power cut. A symbolic link stays one:
 * what it points to is replaced. The folder must exist, and a file that its owner made read-only is left alone.
 *
 * @throws BridgeError `write_failed`, naming path, reason and next step; the old file is unchanged and nothing is left behind.
 */
export async function writeFileAtomic(path: string, text: string, options: WriteFileAtomicOptions = {}): Promise<void> {
  try {
    const target = options.anew === true ? resolve(path) : await followLinks(path);
    const old = options.anew === true ? undefined : await inspect(target);
    const temporary = join(dirname(target), `.notebridge-${randomBytes(8).toString('hex')}.tmp`);
    try {
      await writeNew(temporary, text, { mode: old?.mode ?? options.mode ?? 0o600, owner: old });
      await rename(temporary, target);
    } catch (error) {
      await rm(temporary, { force: true }).catch(ignore);
      throw error;
    }
    await syncFolder(dirname(target));
  } catch (error) {
    throw systemFault(`Cannot write "${path}"`, path, error);
  }
}

interface OldFile {
  mode: number;
  uid: number;
  gid: number;
}

/** The path that the rename must hit. A link whose target is missing is followed as well, so that it is not replaced. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    const entry = await lstat(path).catch(ignore);
    if (entry?.isSymbolicLink() !== true) return resolve(path);
    return followLinks(resolve(dirname(path), await readlink(path)));
  }
}

/** Refuses folders and read-only files, which a rename in a writable folder would replace without asking. */
async function inspect(target: string): Promise<OldFile | undefined> {
  const found = await stat(target).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  if (found.isDirectory()) throw Object.assign(new Error(`${target} is a folder`), { code: 'EISDIR' });
  await access(target, constants.W_OK);
  return { mode: found.mode & 0o7777, uid: found.uid, gid: found.gid };
}

async function writeNew(path: string, text: string, options: { mode: number; owner: OldFile | undefined }): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text, 'utf8');
    if (options.owner !== undefined) await keepOwner(file, options.owner);
    await file.chmod(options.mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Matters when root mends a user's file: without it the user could no longer read it. Nobody else may give files away. */
async function keepOwner(file: FileHandle, owner: OldFile): Promise<void> {
  const made = await file.stat();
  if (made.uid !== owner.uid || made.gid !== owner.gid) await file.chown(owner.uid, owner.gid).catch(ignore);
}

/** Makes the rename itself last. Some systems cannot sync a folder; the file is complete either way. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(ignore);
  if (handle === undefined) return;
  await handle.sync().catch(ignore);
  await handle.close().catch(ignore);
}

function ignore(): undefined {
  return undefined;
}
