import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { lutimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { explain, ignore } from '@notebridge/protocol/util/errno';
import type { Logger } from '@notebridge/protocol/util/logger';
import { findLockFile, placeLockFile, removeLockFile } from '@notebridge/system/files/lock-file';
import { processExists, startOfProcess } from '@notebridge/system/processes/living-process';
import { HostError } from '../session/host-error.js';

/** Who holds a lock, as the lock file says. */
interface Holder {
  readonly pid: number;
  /** Start time of the process, as the system reports it, since pids are reused. Empty if the system does not report it. */
  readonly processStart: string;
  readonly machine: string;
  /** Where its pid counts (Linux): in a container, pids are others. Undefined in locks of older versions, and where the system does not say. */
  readonly pidNamespace?: string | undefined;
  readonly since: string;
  /** Unlike all others, so that nobody removes the lock of somebody else. */
  readonly nonce: string;
}

const touchMs = 15_000;
/** A holder on another machine cannot be asked; it touches its lock as long as it lives. */
const deadAfterMs = 4 * touchMs;
const tries = 20;

/** Keeps a second host of ours from the same file. The lock is a file beside it, which a killed holder leaves: it is taken over. */
export class NotebookLock {
  readonly #path: string;
  readonly #text: string;
  readonly #timer: NodeJS.Timeout;
  #isReleased = false;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    this.#timer = setInterval(() => void this.#touch(), touchMs).unref();
  }

  /**
   * `path` with links resolved. Rejects with `file_in_use`, naming who. Undefined where no lock can be made: then the notebook cannot be saved
   * there either.
   */
  static async take(path: string, logger: Logger): Promise<NotebookLock | undefined> {
    const lockPath = join(dirname(path), `.${basename(path)}.notebridge-lock`);
    const me: Holder = {
      pid: process.pid,
      processStart: (await processStart(process.pid)) ?? '',
      machine: hostname(),
      pidNamespace: ownPidNamespace(),
      since: new Date().toISOString(),
      nonce: randomBytes(8).toString('hex'),
    };
    const text = `${JSON.stringify(me)}\n`;
    for (let attempt = 0; attempt < tries; attempt++) {
      try {
        if (placeLockFile(lockPath, text)) return new NotebookLock(lockPath, text);
      } catch (error) {
        const why = `Cannot lock the notebook with "${lockPath}": ${explain(error)}`;
        logger.warn('The notebook is opened without a lock.', { error: why });
        return undefined;
      }
      const found = orInUse('read the lock', lockPath, () => findLockFile(lockPath));
      if (!found) continue;
      const holder = parseHolder(found.text);
      if (holder && (await isAlive(holder, found.touchedMs))) throw inUse({ path, lockPath, holder });
      remove(lockPath, found.text);
    }
    throw new HostError('file_in_use', `"${path}" is being opened by several programs at once. Try again.`, { data: { path } });
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearInterval(this.#timer);
    remove(this.#path, this.#text);
  }

  async #touch(): Promise<void> {
    const now = new Date();
    if (!this.#isReleased) await lutimes(this.#path, now, now).catch(ignore);
  }
}

function remove(lockPath: string, text: string): void {
  orInUse('remove the old lock', lockPath, () => removeLockFile(lockPath, text));
}

function orInUse<Result>(what: string, lockPath: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new HostError('file_in_use', `Cannot ${what} "${lockPath}": ${explain(error)}`, { data: { lockPath }, cause: error });
  }
}

/** Undefined for a lock that cannot be read: nobody of ours writes such. */
function parseHolder(text: string): Holder | undefined {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found !== 'object' || found === null) return undefined;
    const { pid, processStart, machine, pidNamespace, since, nonce } = found as Partial<Holder>;
    if (!Number.isSafeInteger(pid) || Number(pid) < 1 || typeof machine !== 'string') return undefined;
    const namespace = pidNamespace === undefined ? {} : { pidNamespace: String(pidNamespace) };
    return { pid: Number(pid), processStart: String(processStart), machine, ...namespace, since: String(since), nonce: String(nonce) };
  } catch {
    return undefined;
  }
}

async function isAlive(holder: Holder, touchedMs: number): Promise<boolean> {
  // One that was touched long after now was touched by nobody: code that may write there could have it hold for ever.
  if (isElsewhere(holder)) return Math.abs(Date.now() - touchedMs) < deadAfterMs;
  if (!processExists(holder.pid)) return false;
  const start = await processStart(holder.pid);
  // On Linux each of ours has one: without, code could name a process that never ends.
  const isUnknown = start === undefined || (holder.processStart === '' && process.platform !== 'linux');
  return isUnknown || start === holder.processStart;
}

/** Where its pid means another process here, or none. */
function isElsewhere({ machine, pidNamespace }: Holder): boolean {
  return machine !== hostname() || (pidNamespace !== undefined && pidNamespace !== ownPidNamespace());
}

function ownPidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  if (process.platform === 'linux') return startOfProcess(pid);
  const found = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], { timeout: 2000 }).catch(ignore);
  return found?.stdout.trim();
}

function inUse({ path, lockPath, holder }: { path: string; lockPath: string; holder: Holder }): HostError {
  const place = holder.machine === hostname() ? 'in another container' : `on ${JSON.stringify(holder.machine)}`;
  const where = isElsewhere(holder) ? ` ${place}` : '';
  const who = where === '' && holder.pid === process.pid ? 'this process' : `the process ${holder.pid}${where}`;
  const message = `"${path}" is open in another Notebridge already: ${who}, since ${holder.since}. Use its window, or end it.`;
  return new HostError('file_in_use', message, { data: { path, lockPath, pid: holder.pid, machine: holder.machine, since: holder.since } });
}
