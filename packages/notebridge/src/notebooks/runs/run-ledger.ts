import { join } from 'node:path';
import { isJsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { ensurePrivateDir, namesInPrivateDir, readPrivateFile, removePrivateFile } from '@notebridge/system/files/private-file';

/** What is kept of a run whose call was answered before its end. */
export interface NotedRun {
  id: number;
  cellId: string;
  by: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Absent while it runs. */
  end?: { status: string; durationMs: number };
}

export interface RunFilesOptions {
  /** A folder of this alone. */
  dir: string;
  uid: number | undefined;
  logger: Logger;
}

/** Processes that are remembered. */
const maxFiles = 50;

/**
 * The runs of pages on disk, for those that come back for one when the process that followed it has ended: the page's kernel is no child
 * of ours and goes on. One file for each process, by the mark of its runs. What cannot be written costs a warning, not the run.
 */
export class RunLedger {
  readonly #options: RunFilesOptions;
  readonly #beganAt = Date.now();
  #writing: Promise<void> | undefined;
  #next: (() => Promise<void>) | undefined;

  constructor(options: RunFilesOptions) {
    this.#options = options;
  }

  /** Writes them in place of what was written before; of several that wait, the last. */
  note(mark: string, runs: readonly NotedRun[]): void {
    const text = JSON.stringify(runs);
    this.#next = () => this.#write(mark, text);
    this.#writing ??= this.#writeAll();
  }

  /** A run of another process of this user. */
  find(mark: string, id: number): NotedRun | undefined {
    const { dir, uid } = this.#options;
    const name = namesInPrivateDir(dir).find((found) => found.endsWith(`-${mark}.json`));
    const noted = name === undefined ? undefined : tryJson(readPrivateFile(join(dir, name), { uid }) ?? '');
    return Array.isArray(noted) ? noted.find((run): run is NotedRun => isNotedRun(run) && run.id === id) : undefined;
  }

  /** Resolves when all is written. */
  async written(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    for (let write = this.#next; write !== undefined; write = this.#next) {
      this.#next = undefined;
      await write().catch((error: unknown) => {
        this.#options.logger.warn('A run could not be noted: who comes back for it learns less.', { error: messageOf(error) });
      });
    }
    this.#writing = undefined;
  }

  async #write(mark: string, text: string): Promise<void> {
    const { dir, uid } = this.#options;
    ensurePrivateDir(dir, { uid });
    // Names begin with the time, so the first are the oldest.
    const old = namesInPrivateDir(dir).sort().slice(0, -maxFiles);
    for (const name of old) removePrivateFile(join(dir, name));
    await writeFileAtomic(join(dir, `${this.#beganAt}-${mark}.json`), text, { anew: true });
  }
}

function isNotedRun(value: unknown): value is NotedRun {
  return isJsonObject(value) && typeof value.id === 'number' && typeof value.cellId === 'string' && typeof value.by === 'string';
}
