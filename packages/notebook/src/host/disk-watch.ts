import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';

/** What no system tells us of (network file systems, too many watches, a folder that was moved) is found by looking. */
const lookMs = 3000;

/**
 * Calls when a file may have changed. It may have not: the listener looks. Watches with Node alone: chokidar leaves out events that
 * follow each other closely, which a listener that looks for itself can bear as little as it needs what chokidar adds.
 */
export class DiskWatch {
  readonly #path: string;
  readonly #onMaybe: () => void;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  readonly #watcher: FSWatcher | undefined;
  #isClosed = false;

  constructor(path: string, onMaybe: () => void, logger: Logger) {
    this.#path = path;
    this.#onMaybe = onMaybe;
    this.#logger = logger;
    this.#timer = setInterval(() => this.#tell(), lookMs).unref();
    this.#watcher = this.#open();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#watcher?.close();
  }

  /** On the folder, because most programs replace the file, and a watch on the file would end with the old one. */
  #open(): FSWatcher | undefined {
    const name = basename(this.#path);
    try {
      return watch(dirname(this.#path), { persistent: false }, (_, changed) => {
        if (changed === null || changed === name) this.#tell();
      }).on('error', (error) => this.#warn(error));
    } catch (error) {
      this.#warn(error);
      return undefined;
    }
  }

  #tell(): void {
    if (!this.#isClosed) this.#onMaybe();
  }

  #warn(error: unknown): void {
    const fields = { path: this.#path, error: messageOf(error) };
    this.#logger.warn('The file cannot be watched; it is looked at every few seconds instead.', fields);
  }
}
