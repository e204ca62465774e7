import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unwatchFile,
  watchFile,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { quote } from '@notebridge/protocol/util/quote';
import { systemFault } from './system-fault.js';

/** What a file of ours may be: owned by the user, and open to no other. */
export interface PrivacyRules {
  /** The user that must own it; undefined where the system has no such numbers (Windows): then owner and mode are not looked at. */
  uid: number | undefined;
}

const maxBytes = 16 * 1024 * 1024;

/**
 * Makes the folder with mode 0700 if it is not there. One that is there must belong to the user and be closed to all others: what
 * stands in an open one could have been put there by anyone.
 *
 * @throws BridgeError `write_failed`, naming the path and what to do.
 */
export function ensurePrivateDir(dir: string, rules: PrivacyRules): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const found = statSync(dir);
    if (!found.isDirectory()) throw fault(`"${dir}" is not a folder`, 'Move that file away.', { path: dir });
    assertPrivate(dir, found, { ...rules, mode: '700' });
  } catch (error) {
    throw error instanceof BridgeError ? error : systemFault(`Cannot use the folder "${dir}"`, dir, error);
  }
}

/**
 * The text of a file that only the user can read and write, or undefined if there is none. Links are not followed.
 *
 * @throws BridgeError `write_failed` if it is another user's, open to others, no plain file, above 16 MiB, or not readable.
 */
export function readPrivateFile(path: string, rules: PrivacyRules): string | undefined {
  let file: number | undefined;
  try {
    // Not blocking: a pipe that was put there would be waited for without end.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(file);
    if (!found.isFile()) throw fault(`"${path}" is not a plain file`, 'Move it away; a new one is made when it is needed.', { path });
    assertPrivate(path, found, { ...rules, mode: '600' });
    if (found.size > maxBytes) throw fault(`"${path}" has ${found.size} bytes, ${maxBytes} are allowed`, 'Move it away.', { path });
    return readFileSync(file, 'utf8');
  } catch (error) {
    // Nor is there one where a part of its path is no folder (a home of /dev/null).
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    // What the system calls a circle of links is here the first that it met.
    if (errnoOf(error) === 'ELOOP') throw fault(`"${path}" is a link`, 'Move it away.', { path, reason: 'ELOOP' });
    throw error instanceof BridgeError ? error : systemFault(`Cannot read "${path}"`, path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Makes a file with mode 0600, whole from its first moment. False if something stands there already: that is left as it is. */
export function createPrivateFile(path: string, text: string): boolean {
  const temporary = join(dirname(path), `.notebridge-${randomBytes(8).toString('hex')}.tmp`);
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 });
    chmodSync(temporary, 0o600);
    // Unlike a rename, a link never replaces.
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw systemFault(`Cannot write "${path}"`, path, error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Puts a file with mode 0600 in place of what is there, whole; a link is replaced. It outlives this process, but perhaps no power cut. */
export function replacePrivateFile(path: string, text: string): void {
  const temporary = join(dirname(path), `.notebridge-${randomBytes(8).toString('hex')}.tmp`);
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    throw systemFault(`Cannot write "${path}"`, path, error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Removes a file. One that is not there is no fault. */
export function removePrivateFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw systemFault(`Cannot remove "${path}"`, path, error);
  }
}

/** The names in a folder of ours; none if it is not there. */
export function namesInPrivateDir(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

/** Gives what a system call has made, such as a socket, the mode 0600. */
export function closeToOthers(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    throw systemFault(`Cannot change the mode of "${path}"`, path, error);
  }
}

/** Changes whenever the file is replaced or changed; a system call, no reading. `none` if there is no such file. */
export function fileStamp(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.ino}:${found.mtimeNs}:${found.ctimeNs}:${found.size}`;
}

/** A look at a file, again and again. */
export interface FileWatch {
  /** True for another file than there was, which may not have been called back about yet. */
  hasChanged(): boolean;
  /** Stopping twice is harmless. */
  stop(): void;
}

/** Calls back when the file comes, changes or goes after it had this stamp, also if it has already; looks every so many milliseconds. */
export function watchPrivateFile(
  path: string,
  { intervalMs, stamp }: { intervalMs: number; stamp: string },
  onChange: () => void,
): FileWatch {
  let seen = stamp;
  const hasChanged = (): boolean => fileStamp(path) !== seen;
  // Node also says once that there is no file, which is no news.
  const look = (): void => {
    if (!hasChanged()) return;
    seen = fileStamp(path);
    onChange();
  };
  watchFile(path, { interval: intervalMs, persistent: false }, look);
  const first = setImmediate(look);
  const stop = (): void => {
    clearImmediate(first);
    unwatchFile(path, look);
  };
  return { hasChanged, stop };
}

function assertPrivate(path: string, found: Stats, { uid, mode }: PrivacyRules & { mode: string }): void {
  if (uid === undefined) return;
  if (found.uid !== uid) {
    throw fault(`"${path}" belongs to another user (uid ${found.uid}, we run as ${uid})`, 'Move it away, or give it to yourself.', {
      path,
    });
  }
  if ((found.mode & 0o077) === 0) return;
  const is = (found.mode & 0o777).toString(8).padStart(3, '0');
  throw fault(`"${path}" is open to other users (mode ${is})`, `Look at what is in it, then run: chmod ${mode} ${quote(path)}`, { path });
}

function fault(found: string, next: string, { path, reason = 'not_private' }: { path: string; reason?: string }): BridgeError {
  return new BridgeError('write_failed', `${found}. ${next}`, { data: { path, reason } });
}
