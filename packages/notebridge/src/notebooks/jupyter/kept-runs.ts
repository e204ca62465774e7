import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { RunKeeper } from '@notebridge/notebook/lab';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { tryJson } from '@notebridge/protocol/util/try-json';
import {
  ensurePrivateDir,
  namesInPrivateDir,
  readPrivateFile,
  removePrivateFile,
  replacePrivateFile,
} from '@notebridge/system/files/private-file';
import type { RunFilesOptions } from '../runs/run-ledger.js';

/** With so many, those that earlier processes left are dropped: nobody came back for them. */
const maxFiles = 200;

/**
 * The run of each notebook of Jupyter that is under way, on disk: one file for each notebook, as long as its code runs. What cannot be
 * written or read costs a warning, not the run.
 */
export class KeptRuns {
  readonly #options: RunFilesOptions;
  /** Names of the files of this process. */
  readonly #own = new Set<string>();

  constructor(options: RunFilesOptions) {
    this.#options = options;
  }

  keeperOf({ server, path }: { server: string; path: string }): RunKeeper {
    const { dir, uid } = this.#options;
    const name = `${createHash('sha256').update(`${server}\n${path}`).digest('hex').slice(0, 32)}.json`;
    const file = join(dir, name);
    return {
      read: () => {
        try {
          return tryJson(readPrivateFile(file, { uid }) ?? '');
        } catch (error) {
          return this.#warn(error);
        }
      },
      // At once: what a cell has printed must not be known to others before it is kept that the cell has begun.
      keep: (run) => {
        try {
          if (run === undefined) removePrivateFile(file);
          else this.#write(name, JSON.stringify(run));
        } catch (error) {
          this.#warn(error);
        }
      },
    };
  }

  #write(name: string, text: string): void {
    const { dir, uid } = this.#options;
    ensurePrivateDir(dir, { uid });
    this.#own.add(name);
    const names = namesInPrivateDir(dir);
    const left = names.length > maxFiles ? names.filter((other) => !this.#own.has(other)) : [];
    for (const other of left) removePrivateFile(join(dir, other));
    replacePrivateFile(join(dir, name), text);
  }

  #warn(error: unknown): undefined {
    this.#options.logger.warn('A run is not kept on disk: who comes back for it after a restart learns less.', { error: messageOf(error) });
  }
}
