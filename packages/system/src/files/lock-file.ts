import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { errnoOf } from '@notebridge/protocol/util/errno';

/**
 * Puts a lock file there with this text, which has to be unlike all others; false if there is one. Nobody sees half a lock. Throws the
 * error of the system.
 */
export function placeLockFile(path: string, text: string): boolean {
  const temporary = `${path}-${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 });
    return place(path, text, temporary);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Unlike a rename, a link never replaces, and unlike `wx` it shows nobody half a lock. Some file systems have none. */
function place(path: string, text: string, temporary: string): boolean {
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
  }
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** A lock file as it is, and when it was last touched. */
export interface FoundLockFile {
  text: string;
  /** Milliseconds since 1970. */
  touchedMs: number;
}

/** The folder may be one that others write to: a link is not followed, and nothing is waited for. */
const toRead = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const maxBytes = 64 * 1024;

/** Undefined if there is none. Throws the error of the system, and for what cannot be a lock: a link, a pipe, a folder, a large file. */
export function findLockFile(path: string): FoundLockFile | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, toRead);
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > maxBytes) throw new Error('it is no lock of ours. Look what it is, and remove it');
    return { text: readFileSync(file, 'utf8'), touchedMs: stats.mtimeMs };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The text of the lock file; as `findLockFile`. */
export function readLockFile(path: string): string | undefined {
  return findLockFile(path)?.text;
}

/** Something else in the place of the lock is not ours to remove. */
function isStill(path: string, text: string): boolean {
  try {
    return readLockFile(path) === text;
  } catch {
    return false;
  }
}

/**
 * Removes the lock file if it still has this text; true if it did. Of two that find the same dead lock, the second must not remove the
 * new lock of the first: what was moved aside is looked at again. Throws the error of the system, but not for a link, a pipe or a folder in
 * its place.
 */
export function removeLockFile(path: string, text: string): boolean {
  if (!isStill(path, text)) return false;
  const aside = `${path}-${randomBytes(6).toString('hex')}`;
  try {
    renameSync(path, aside);
    if (isStill(aside, text)) return true;
    linkSync(aside, path);
    return false;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
