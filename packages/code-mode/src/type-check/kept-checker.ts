import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { CheckedPackage } from '@notebridge/bindings';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { writeTree } from '@notebridge/system/files/file-tree';
import { makeOwnScratch } from '@notebridge/system/files/own-scratch';
import { removeTree } from '@notebridge/system/files/remove-tree';
import type { ScratchFolder } from '@notebridge/system/files/scratch-folder';
import {
  type TypeCheckerProgram,
  typeCheckerCommand,
  typeCheckerEnvironment,
  typeCheckerLauncher,
} from '@notebridge/system/processes/type-checker-program';
import { type CheckedView, CheckerProcess, checkerConfig, checkerConfigName } from './checker-process.js';

export interface TypeCheckerOptions {
  program: TypeCheckerProgram;
  logger: Logger;
  /** Nobody has code checked for so long: the checker ends, and the next check starts it anew. Milliseconds. */
  idleMs: number;
  /** How long code waits for its check; then it runs unchecked. Milliseconds. */
  waitMs: number;
}

const memoryMb = 512;
const launcherName = 'launcher.cjs';
/** After one that failed, the next one is not started before. Doubled by each that follows, up to the most. Milliseconds. */
const pauseMs = 2000;
const longestPauseMs = 600_000;

/** One type checker, started when it is wanted, again after it ended, and not too often. */
export class KeptChecker {
  readonly #options: TypeCheckerOptions;
  #scratch: Promise<ScratchFolder> | undefined;
  #current: Promise<CheckerProcess> | undefined;
  #failures = 0;
  #notBefore = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #closing = new AbortController();

  constructor(options: TypeCheckerOptions) {
    this.#options = options;
  }

  /** The one that runs, started for whoever asks first. Rejects with `closed` or `timeout` where none can be had just now. */
  async get(): Promise<CheckerProcess> {
    this.#keepAwake();
    if (this.#current !== undefined) return this.#current;
    if (this.#closing.signal.aborted) throw new BridgeError('closed', 'The hub has ended.');
    if (Date.now() < this.#notBefore) throw new BridgeError('closed', 'The type checker has failed, and is started again later.');
    const current = this.#start();
    this.#current = current;
    const lose = (reason: string): void => {
      if (this.#current !== current) return;
      this.#current = undefined;
      this.#countFailure(reason);
    };
    current.then(
      ({ ended }) => ended.then(lose),
      (error: unknown) => lose(messageOf(error)),
    );
    return current;
  }

  /** A check has come to its end: it works. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** Writes what is to be checked against into a folder that others cannot guess. */
  async addView({ files, tools }: CheckedPackage): Promise<CheckedView> {
    const folder = join(await this.#folder(), randomBytes(12).toString('hex'));
    const all = new Map([...files].map(([path, text]) => [`generated/${path}`, text]));
    await writeTree(folder, all.set(checkerConfigName, checkerConfig));
    return { folder, tools };
  }

  /** Nobody's code is checked against it any more. */
  async removeView(view: CheckedView): Promise<void> {
    (await this.#current?.catch(() => undefined))?.forget(view);
    await removeTree(view.folder).catch(() => {});
  }

  /** Ends it, and removes all that was written for it. Closing twice is harmless. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#closing.abort();
    await this.#stop();
    await (await this.#scratch?.catch(() => undefined))?.remove();
  }

  /** The next check starts another. */
  async #stop(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await (await current?.catch(() => undefined))?.stop();
  }

  async #start(): Promise<CheckerProcess> {
    const { program, waitMs, logger } = this.#options;
    const folder = await this.#folder();
    const places = { folder, temporary: join(folder, 'temporary'), launcher: join(folder, 'launcher', launcherName), memoryMb };
    const checker = await CheckerProcess.start({
      ...typeCheckerCommand(program, places),
      ...{ env: typeCheckerEnvironment(places), folder, workMs: 3 * waitMs, logger, signal: this.#closing.signal },
    });
    logger.info('Code is type-checked before it runs.', { checker: `${program.name} ${program.version}`, pid: checker.pid ?? 0 });
    return checker;
  }

  #countFailure(reason: string): void {
    if (this.#closing.signal.aborted) return;
    const pause = Math.min(pauseMs * 2 ** this.#failures, longestPauseMs);
    this.#failures++;
    this.#notBefore = Date.now() + pause;
    this.#options.logger.warn('The type checker failed. Code runs unchecked meanwhile.', { reason, pause_ms: pause });
  }

  async #folder(): Promise<string> {
    this.#scratch ??= this.#makeFolder();
    return (await this.#scratch).path;
  }

  async #makeFolder(): Promise<ScratchFolder> {
    const scratch = await makeOwnScratch();
    await writeTree(join(scratch.path, 'temporary'), new Map());
    await writeTree(join(scratch.path, 'launcher'), new Map([[launcherName, typeCheckerLauncher]]));
    await writeTree(join(scratch.path, 'probe'), new Map([[checkerConfigName, checkerConfig]]));
    return scratch;
  }

  #keepAwake(): void {
    clearTimeout(this.#idle);
    if (this.#closing.signal.aborted) return;
    this.#idle = setTimeout(() => void this.#stop(), this.#options.idleMs).unref();
  }
}
