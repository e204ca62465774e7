import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ignore } from '@notebridge/protocol/util/errno';
import { followLinks, inspectTarget, keepOwner, syncFolder } from './replace-file.js';
import { systemFault } from './system-fault.js';

export interface WriteFileAtomicOptions {
  /** Permission bits of a file that does not exist yet. Default 0o600. An existing file keeps the bits it has. */
  mode?: number;
  /**
   * For secrets, in folders that others may write to: the file becomes a new one with exactly `mode`, whatever stood there, and a
   * link that was put there is replaced, not followed. Default false.
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
    const old = options.anew === true ? undefined : await inspectTarget(target);
    const temporary = join(dirname(target), `.notebridge-${randomBytes(8).toString('hex')}.tmp`);
    try {
      await writeNewFile(temporary, text, { mode: old === undefined ? (options.mode ?? 0o600) : old.mode & 0o7777, owner: old });
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

/** Makes a file, and has it on disk. Rejects with the system's error, also if something stands there. */
export async function writeNewFile(path: string, text: string, options: { mode: number; owner?: Stats | undefined }): Promise<void> {
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
