import { randomBytes } from 'node:crypto';
import { rmSync, statSync, utimesSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { placeLockFile, readLockFile, removeLockFile } from './lock-file.js';
import { systemFault } from './system-fault.js';

/** Holders need milliseconds. One that is this old was left by a process that was killed. */
const deadAfterMs = 5000;
const renewMs = 1000;
const firstPauseMs = 2;
const longestPauseMs = 50;

/** Who takes a lock, so that others need not wait for one that was killed. */
export interface LockOwner {
  /** Names the owner for ever. No line break. */
  name: string;
  /** True if the owner of that name can hold nothing any more. */
  hasEnded(name: string): boolean;
}

export interface FileLock {
  /** False if another process has taken it over since, because we were stopped for long: then nothing more may be written under it. */
  isHeld(): boolean;
  release(): void;
}

/** Takes the lock file, or answers undefined if another process has it. Never waits. */
export function tryFileLock(path: string, owner?: LockOwner): FileLock | undefined {
  const nonce = randomBytes(12).toString('hex') + (owner === undefined ? '' : ` ${owner.name}`);
  if (!place(path, nonce) && !(removeDead(path, owner) && place(path, nonce))) return undefined;
  const isHeld = (): boolean => readLockFile(path) === nonce;
  const release = (): void => {
    if (isHeld()) rmSync(path, { force: true });
  };
  return { isHeld, release };
}

/**
 * Does the work while no other process of ours does any under the same lock file. A lock that a killed process left is taken over
 * after five seconds, at once if its `owner` is known to have ended; work that may take longer is `isLong`. Rejects with `write_failed` after `timeoutMs` (default 15 s), or if the
 * lock file cannot be made.
 */
export async function withFileLock<Result>(
  path: string,
  work: (lock: FileLock) => Promise<Result>,
  { timeoutMs = 15_000, owner, isLong = false }: { timeoutMs?: number; owner?: LockOwner; isLong?: boolean } = {},
): Promise<Result> {
  const lock = await waitForLock(path, { timeoutMs, owner });
  const renewing = isLong ? setInterval(() => renew(path, lock), renewMs).unref() : undefined;
  try {
    return await work(lock);
  } finally {
    clearInterval(renewing);
    lock.release();
  }
}

/** Shows that its holder lives. */
function renew(path: string, lock: FileLock): void {
  try {
    const now = new Date();
    if (lock.isHeld()) utimesSync(path, now, now);
  } catch {
    // It is gone, which `isHeld` says.
  }
}

async function waitForLock(path: string, { timeoutMs, owner }: { timeoutMs: number; owner: LockOwner | undefined }): Promise<FileLock> {
  const end = performance.now() + timeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const lock = tryFileLock(path, owner);
    if (lock !== undefined) return lock;
    if (performance.now() > end) {
      throw new BridgeError('write_failed', `"${path}" is held by another process for too long. End that process, or remove the file.`, {
        data: { path, reason: 'locked' },
      });
    }
    await pause(pauseMs);
  }
}

function place(path: string, nonce: string): boolean {
  try {
    return placeLockFile(path, nonce);
  } catch (error) {
    throw systemFault(`Cannot make the lock "${path}"`, path, error);
  }
}

function removeDead(path: string, owner: LockOwner | undefined): boolean {
  const dead = readLockFile(path);
  if (dead === undefined) return true;
  const [, name] = /^\w+ (.+)$/.exec(dead) ?? [];
  if (name !== undefined && owner?.hasEnded(name) === true) return removeLockFile(path, dead);
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  // One from far in the future was made before the clock was set back. By a part of a millisecond any new one may be ahead: the time of a
  // file is finer than ours.
  if (age > -deadAfterMs && age < deadAfterMs) return false;
  return removeLockFile(path, dead);
}
