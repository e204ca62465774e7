import { constants, copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf, reasonOf, remedyOf } from '@notebridge/kit/errno';
import { readTextFile } from '../../config/read-text-file.js';
import { BridgeError } from '../../core/errors.js';
import { writeFileAtomic } from '../../state/atomic-file.js';

/** Hosts keep more than servers in their files: Claude Code its whole history of projects. */
const maxHostFileBytes = 67_108_864;

/** The text of a host's file, or undefined if there is none. @throws BridgeError `write_failed` if it cannot be read. */
export async function readHostFile(file: string): Promise<string | undefined> {
  const read = await readTextFile(file, maxHostFileBytes);
  if (read.kind === 'text') return read.text;
  if (read.kind === 'absent') return undefined;
  throw new BridgeError('write_failed', `"${file}" ${read.why}. Nothing was changed. ${read.next}`, { data: { path: file } });
}

export interface HostFileChange {
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
  if (before === undefined) await makeFolder(dirname(file));
  const backup = before === undefined ? undefined : await keepCopy(file);
  try {
    await assertUnchanged(file, before);
    await writeFileAtomic(file, after);
  } catch (error) {
    if (backup !== undefined) await rm(backup, { force: true });
    throw error;
  }
  return backup;
}

/** A running host writes this file too; its change must not be undone by ours. */
async function assertUnchanged(file: string, before: string | undefined): Promise<void> {
  if ((await readHostFile(file)) === before) return;
  throw new BridgeError(
    'write_failed',
    `"${file}" was changed by another program meanwhile. Nothing was changed by this one. Run this again.`,
    { data: { path: file } },
  );
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw failed(`Cannot make the folder "${folder}"`, folder, error);
  });
}

async function keepCopy(file: string): Promise<string> {
  const backup = `${file}.notebridge-backup-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  await copyFile(file, backup, constants.COPYFILE_EXCL).catch((error: unknown) => {
    throw failed(`Cannot keep a copy of "${file}"`, file, error);
  });
  return backup;
}

function failed(what: string, path: string, error: unknown): BridgeError {
  return new BridgeError('write_failed', `${what}: ${reasonOf(error)}. Nothing was changed. ${remedyOf(error)}`, {
    data: { path, reason: errnoOf(error) ?? 'unknown' },
    cause: error,
  });
}
