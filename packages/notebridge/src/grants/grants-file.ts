import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { withFileLock } from '@notebridge/system/files/file-lock';
import { ensurePrivateDir, fileStamp, type PrivacyRules, readPrivateFile } from '@notebridge/system/files/private-file';
import { withoutOld } from './ended-grants.js';
import { type Grant, parseGrant } from './grant.js';
import type { GrantListener, GrantRecords, NotCounted } from './grant-records.js';

export interface GrantsFileOptions extends PrivacyRules {
  /** Made with mode 0700 if absent. */
  dir: string;
  logger: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

const maxLive = 1000;
/** Of each kind. */
const maxEnded = 1000;
/** Whether another process has changed the file is asked at most this often, milliseconds. */
const lookEveryMs = 250;

/**
 * The one file of grants, shared by all processes of the user. It is read again when it has changed, and changed only under its
 * lock and on what it holds in that moment, so no process loses what another wrote.
 */
export class GrantsFile implements GrantRecords {
  readonly isShared = false;
  readonly maxLive = maxLive;
  readonly #path: string;
  readonly #options: GrantsFileOptions;
  readonly #listener: GrantListener;
  #stamp = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lastFault = '';
  #queue: Promise<unknown> = Promise.resolve();

  /** Throws `write_failed` if the folder or file is not the user's own, or no file of grants. */
  constructor(options: GrantsFileOptions, listener: GrantListener) {
    this.#options = options;
    this.#listener = listener;
    this.#path = join(options.dir, 'grants.json');
    ensurePrivateDir(options.dir, options);
    this.#stamp = fileStamp(this.#path);
    listener.replaceAll(this.#read());
    this.#lookedAt = performance.now();
  }

  /** The file is at hand, and what cannot be read opens nothing. */
  isCurrent(): boolean {
    return true;
  }

  untilTold(): undefined {
    return undefined;
  }

  /** Reads the file again if it has changed. */
  refresh(when: 'soon' | 'now'): boolean {
    if (when === 'soon' && performance.now() - this.#lookedAt < lookEveryMs) return false;
    this.#lookedAt = performance.now();
    try {
      const stamp = fileStamp(this.#path);
      if (stamp === this.#stamp) return false;
      this.#listener.replaceAll(this.#read());
      this.#stamp = stamp;
      this.#lastFault = '';
    } catch (error) {
      // It is unknown now who may do what. The next look tries again.
      this.#listener.replaceAll([]);
      this.#stamp = '';
      this.#report(error);
    }
    return true;
  }

  add(grant: Grant, assertRoom: () => void): Promise<boolean> {
    return this.#changeAll((grants) => {
      if (grants.some(({ id }) => id === grant.id)) return false;
      // It asks for what others have just issued as well.
      this.#listener.replaceAll(grants);
      assertRoom();
      grants.push(grant);
      return true;
    });
  }

  change<Result>(id: string, change: (grant: Grant | undefined) => Result): Promise<Result> {
    return this.#changeAll((grants) => change(grants.find((grant) => grant.id === id)));
  }

  /** One write for all. */
  async addUsed(changes: ReadonlyMap<string, number>): Promise<NotCounted | undefined> {
    try {
      await this.#changeAll((grants) => {
        for (const grant of grants) grant.used = Math.max(0, grant.used + (changes.get(grant.id) ?? 0));
      });
      return undefined;
    } catch (error) {
      return { ids: new Set(changes.keys()), error };
    }
  }

  close(): void {}

  /** One change after the other. Rejects with `write_failed`, or what `change` throws; then nothing was changed. */
  #changeAll<Result>(change: (grants: Grant[]) => Result): Promise<Result> {
    const changed = this.#queue.then(() => withFileLock(`${this.#path}.lock`, (lock) => this.#change(change, lock.isHeld)));
    this.#queue = changed.catch(() => {});
    return changed;
  }

  async #change<Result>(change: (grants: Grant[]) => Result, isHeld: () => boolean): Promise<Result> {
    // Copies: what this process goes by changes only when the file has.
    const grants = this.#read().map((grant) => ({ ...grant }));
    const kept = withoutOld(grants, this.#options.now(), maxEnded);
    const result = change(kept);
    if (!isHeld()) {
      throw new BridgeError('write_failed', `Another process has changed "${this.#path}" while this one was stopped. Try again.`, {
        data: { path: this.#path, reason: 'locked' },
      });
    }
    await writeFileAtomic(this.#path, `${JSON.stringify({ version: 1, grants: kept }, null, 1)}\n`, { mode: 0o600, anew: true });
    this.#stamp = fileStamp(this.#path);
    this.#listener.replaceAll(kept);
    return result;
  }

  #read(): Grant[] {
    const text = readPrivateFile(this.#path, this.#options);
    if (text === undefined) return [];
    const file = parseFile(text);
    if (file !== undefined) return file;
    throw new BridgeError('write_failed', `"${this.#path}" is no file of grants any more. Remove it: that revokes all of them.`, {
      data: { path: this.#path, reason: 'not_grants' },
    });
  }

  #report(error: unknown): void {
    const fault = messageOf(error);
    if (fault !== this.#lastFault) this.#options.logger.error(`No grant is accepted: ${fault}`);
    this.#lastFault = fault;
  }
}

/** All or nothing: a file with one odd entry may have been changed elsewhere too. */
function parseFile(text: string): Grant[] | undefined {
  const file = tryJson(text);
  if (!isJsonObject(file) || file.version !== 1 || !Array.isArray(file.grants)) return undefined;
  const grants = file.grants.map(parseGrant);
  return grants.every((grant) => grant !== undefined) ? grants : undefined;
}
