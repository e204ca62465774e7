import { constants, copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { errnoOf, reasonOf, remedyOf } from '@notebridge/protocol/util/errno';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { readTextFile } from '../../config/read-text-file.js';

/** Hosts keep more than servers in their files: Claude Code its whole history of projects. */
const maxHostFileBytes = 67_108_864;

/** The text of a host's file, or undefined if there is none. @throws BridgeError `write_failed` if it cannot be read. */
export async function readHostFile(file: string): Promise<string | undefined> {
  const read = await readTextFile(file, maxHostFileBytes);
  if (read.kind === 'text') return read.text;
  if (read.kind === 'absent') return undefined;
  throw new BridgeError('write_failed', `"${file}" ${read.why}. Nothing was changed. ${read.next}`, { data: { path: file } });
}

interface HostFileChange {
  file: string;
  /** The text that the change was made from; undefined for a new file. */
  before: string | undefined;
  after: string;
}

/**
 * Replaces a host's file, after keeping the old one beside it; a new file is private and its folders are made. Returns the path of
 * the copy, undefined if there was no file.
 *
 * @throws BridgeError `write_failed`; the file is then as it was, and no copy is left.
 */
export async function replaceHostFile({ file, before, after }: HostFileChange): Promise<string | undefined> {
  const folder = dirname(file);
  const copy = `${file}.notebridge-backup-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  const backup = before === undefined ? undefined : copy;
  if (backup === undefined) await mkdir(folder, { recursive: true }).catch(failing(`Cannot make the folder "${folder}"`, folder));
  else await copyFile(file, backup, constants.COPYFILE_EXCL).catch(failing(`Cannot keep a copy of "${file}"`, file));
  try {
    // A running host writes this file too; its change must not be undone by ours.
    if ((await readHostFile(file)) !== before) {
      const found = `"${file}" was changed by another program meanwhile. Nothing was changed by this one. Run this again.`;
      throw new BridgeError('write_failed', found, { data: { path: file } });
    }
    await writeFileAtomic(file, after);
  } catch (error) {
    if (backup !== undefined) await rm(backup, { force: true });
    throw error;
  }
  return backup;
}

function failing(what: string, path: string): (error: unknown) => never {
  return (error) => {
    throw new BridgeError('write_failed', `${what}: ${reasonOf(error)}. Nothing was changed. ${remedyOf(error)}`, {
      data: { path, reason: errnoOf(error) ?? 'unknown' },
      cause: error,
    });
  };
}
