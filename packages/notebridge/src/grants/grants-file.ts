import { join } from 'node:path';
import { isJsonObject } from '@notebridge/kit/json';
import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import { BridgeError } from '../core/errors.js';
import { writeFileAtomic } from '../state/atomic-file.js';
import { withFileLock } from '../state/file-lock.js';
import { ensurePrivateDir, fileStamp, type PrivacyRules, readPrivateFile } from '../state/private-file.js';
import { tryJson } from '../util/try-json.js';
import { type Grant, maxTtlMs, parseGrant } from './grant.js';

export interface GrantsFileOptions extends PrivacyRules {
  /** Made with mode 0700 if absent. */
  dir: string;
  logger: Logger;
}

/** Ended grants stay in the file this long, so that their holders learn why they are refused. */
const tellEndForMs = 60 * 60_000;
/** Those of holders stay as long as any may live: a token that was given before must not open them anew. */
const rememberHoldersMs = maxTtlMs;
/** Of each kind. */
const maxEnded = 1000;
/** Whether another process has changed the file is asked at most this often, milliseconds. */
const lookEveryMs = 250;

/**
 * The one file of grants, shared by all processes of the user. It is read again when it has changed, and changed only under its
 * lock and on what it holds in that moment, so no process loses what another wrote.
 */
export class GrantsFile {
  readonly #path: string;
  readonly #options: GrantsFileOptions;
  #grants: readonly Grant[] = [];
  #stamp = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lastFault = '';
  #queue: Promise<unknown> = Promise.resolve();

  /** Throws `write_failed` if the folder or file is not the user's own, or no file of grants. */
  constructor(options: GrantsFileOptions) {
    this.#options = options;
    this.#path = join(options.dir, 'grants.json');
    ensurePrivateDir(options.dir, options);
    this.#stamp = fileStamp(this.#path);
    this.#grants = this.#read();
    this.#lookedAt = performance.now();
  }

  get grants(): readonly Grant[] {
    return this.#grants;
  }

  /** Reads the file again if it has changed. True if so. `now` looks even if it was looked at just before. */
  refresh(when: 'soon' | 'now' = 'soon'): boolean {
    if (when === 'soon' && performance.now() - this.#lookedAt < lookEveryMs) return false;
    this.#lookedAt = performance.now();
    try {
      const stamp = fileStamp(this.#path);
      if (stamp === this.#stamp) return false;
      this.#grants = this.#read();
      this.#stamp = stamp;
      this.#lastFault = '';
    } catch (error) {
      // It is unknown now who may do what. The next look tries again.
      this.#grants = [];
      this.#stamp = '';
      this.#report(error);
    }
    return true;
  }

  /** Changes the grants, one change after the other. Rejects with `write_failed`, or what `change` throws; then nothing was changed. */
  change<Result>(now: number, change: (grants: Grant[]) => Result): Promise<Result> {
    const changed = this.#queue.then(() => withFileLock(`${this.#path}.lock`, (lock) => this.#change(now, change, lock.isHeld)));
    this.#queue = changed.catch(() => {});
    return changed;
  }

  async #change<Result>(now: number, change: (grants: Grant[]) => Result, isHeld: () => boolean): Promise<Result> {
    // Copies: what this process goes by changes only when the file has.
    const grants = this.#read().map((grant) => ({ ...grant }));
    const kept = withoutOld(grants, now);
    const result = change(kept);
    if (!isHeld()) {
      throw new BridgeError('write_failed', `Another process has changed "${this.#path}" while this one was stopped. Try again.`, {
        data: { path: this.#path, reason: 'locked' },
      });
    }
    await writeFileAtomic(this.#path, `${JSON.stringify({ version: 1, grants: kept }, null, 1)}\n`, { mode: 0o600, anew: true });
    this.#stamp = fileStamp(this.#path);
    this.#grants = kept;
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

function withoutOld(grants: Grant[], now: number): Grant[] {
  const endOf = ({ revokedAt, expiresAt }: Grant): number => Math.min(revokedAt ?? expiresAt, expiresAt);
  const ended = grants.filter((grant) => endOf(grant) <= now).sort((a, b) => endOf(b) - endOf(a));
  const newest = (few: Grant[], forMs: number): Grant[] => few.slice(0, maxEnded).filter((grant) => now - endOf(grant) < forMs);
  const ofHolders = ended.filter(({ holder }) => holder !== undefined);
  const told = new Set([...newest(ended, tellEndForMs), ...newest(ofHolders, rememberHoldersMs)]);
  return grants.filter((grant) => endOf(grant) > now || told.has(grant));
}
