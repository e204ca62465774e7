import { resolve } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { errnoOf, reasonOf } from '@notebridge/protocol/util/errno';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Environment } from '@notebridge/system/processes/environment';
import type { FSWatcher } from 'chokidar';
import type { Config } from './config.js';
import { unreadableFile } from './fault.js';
import { loadConfig, maxConfigBytes } from './load-config.js';
import { readTextFile } from './read-text-file.js';
import { findWatchedPaths } from './watched-paths.js';

export interface WatchConfigOptions {
  /** The file named by `--config`, or the user's own (`userConfigFile`). It need not exist yet. */
  file: string;
  /** For the variables that the config names. */
  env: Environment;
  /** See `LoadConfigOptions`. */
  stateDir?: string | undefined;
  /** What was loaded of it and holds now. */
  current: Config;
  /** Takes a new config into use. The next edit is looked at when this is done. */
  onChange: (config: Config, previous: Config) => void | Promise<void>;
  /** Called once for each fault of an edit, and for a file that is gone. The config before it stays in use. */
  onFault: (error: BridgeError) => void;
  /** Called when the file is good again after a fault, before `onChange` if it also changed. */
  onMended?: () => void;
  logger?: Logger;
  /** Polls every two seconds instead of using the system's events. Default: only where the system has none. */
  polling?: boolean;
}

/** Events come in swarms: the file is read so long after the first of one. Milliseconds. */
const settleMs = 100;
/** A file that is gone or broken may be about to be written: it is looked at once more after this. Milliseconds. */
const secondLookMs = 500;
const pollMs = 2000;

/**
 * Follows the edits of a config file, however they are made: in place, by rename, through links, and of a file yet to come. It watches until it is
 * closed, and keeps the process alive so long.
 */
export class ConfigWatch {
  /** Resolves when it watches: from then on no edit is missed. Never rejects. */
  readonly ready: Promise<void>;
  readonly #options: WatchConfigOptions;
  readonly #file: string;
  readonly #logger: Logger;
  #current: Config;
  #polling: boolean;
  #watcher: FSWatcher | undefined;
  #watched = '';
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #lookAgain = false;
  #suspicion: string | undefined;
  #reported: string | undefined;
  #closed = false;
  #endWaiting = (): void => {};
  readonly #untilClosed = new Promise<void>((resolve) => {
    this.#endWaiting = resolve;
  });

  constructor(options: WatchConfigOptions) {
    this.#options = options;
    this.#file = resolve(options.file);
    this.#logger = options.logger ?? silentLogger;
    this.#current = options.current;
    this.#polling = options.polling ?? false;
    this.ready = this.#look();
  }

  /** Nothing is called any more. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#endWaiting();
    clearTimeout(this.#timer);
    await this.#watcher?.close();
  }

  /** Watches what has to be watched now, then reads. One at a time: an edit meanwhile is looked at afterwards. */
  async #look(): Promise<void> {
    this.#timer = undefined;
    if (this.#looking) {
      this.#lookAgain = true;
      return;
    }
    this.#looking = true;
    try {
      do {
        this.#lookAgain = false;
        await this.#follow();
        await this.#read();
      } while (this.#lookAgain && !this.#closed);
    } catch (error) {
      this.#logger.error('The config file cannot be watched any more.', { file: this.#file, reason: messageOf(error) });
    } finally {
      this.#looking = false;
    }
  }

  #schedule(delayMs: number): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#look(), delayMs);
  }

  /** Before reading: a change after the read is then noticed. */
  async #follow(): Promise<void> {
    const { folders, entries, identity } = await findWatchedPaths(this.#file);
    const { FSWatcher } = await import('chokidar');
    const wanted = `${this.#polling} ${identity}`;
    if (wanted === this.#watched || this.#closed) return;
    const known = new Set([...folders, ...entries]);
    const watcher = new FSWatcher({
      ignored: (path) => !known.has(resolve(path)),
      ignoreInitial: true,
      followSymlinks: false,
      depth: 0,
      atomic: false,
      usePolling: this.#polling,
      interval: pollMs,
    });
    const [previous, notice] = [this.#watcher, (): void => this.#schedule(settleMs)];
    [this.#watcher, this.#watched] = [watcher, wanted];
    // Raw too: a link that is put into a folder's place is no event of a file that is known to chokidar.
    watcher
      .on('all', notice)
      .on('raw', notice)
      .on('error', (error) => this.#onWatcherError(error));
    const isReady = new Promise<void>((done) => watcher.once('ready', done));
    watcher.add(folders);
    await Promise.race([isReady, this.#untilClosed]);
    await previous?.close();
  }

  #onWatcherError(error: unknown): void {
    if (!this.#polling && ['ENOSPC', 'EMFILE', 'ENFILE', 'ENOSYS'].includes(errnoOf(error) ?? '')) {
      this.#polling = true;
      const said = 'The system cannot report changes of the config file; it is checked every two seconds instead.';
      this.#logger.warn(said, { file: this.#file, reason: reasonOf(error) });
    }
    this.#schedule(settleMs);
  }

  async #read(): Promise<void> {
    const loaded = await this.#load();
    if (this.#closed) return;
    if (loaded instanceof BridgeError) return this.#onFault(loaded);
    this.#suspicion = undefined;
    const previous = this.#current;
    const same = JSON.stringify(loaded) === JSON.stringify(previous);
    this.#current = loaded;
    try {
      if (this.#reported !== undefined) this.#options.onMended?.();
      this.#reported = undefined;
      if (!same) await this.#options.onChange(loaded, previous);
    } catch (error) {
      const fault = error instanceof BridgeError ? error : new BridgeError('internal', messageOf(error), { cause: error });
      if (!this.#closed) this.#options.onFault(fault);
    }
  }

  async #load(): Promise<Config | BridgeError> {
    const read = await readTextFile(this.#file, maxConfigBytes);
    if (read.kind === 'absent') {
      if (this.#current.file === undefined) return this.#current;
      return unreadableFile(this.#file, { found: 'is gone', next: 'Put it back, or write "{}" into it; until then, what it said holds.' });
    }
    try {
      const { env, stateDir } = this.#options;
      return await loadConfig({ file: this.#file, env, stateDir, readFile: async () => read });
    } catch (error) {
      return error instanceof BridgeError ? error : new BridgeError('internal', messageOf(error), { cause: error });
    }
  }

  #onFault(error: BridgeError): void {
    if (this.#reported === error.message) return;
    if (this.#suspicion !== error.message) {
      this.#suspicion = error.message;
      this.#schedule(secondLookMs);
      return;
    }
    this.#reported = error.message;
    this.#options.onFault(error);
  }
}
