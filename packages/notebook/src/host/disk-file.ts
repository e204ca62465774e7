import { createHash, randomBytes } from 'node:crypto';
import { type BigIntStats, type FSWatcher, type Stats, watch } from 'node:fs';
import { constants, link, lstat, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errnoOf, ignore, ignoreMissing } from '@notebridge/protocol/util/errno';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { writtenFolderOf } from '@notebridge/sandbox/written-folders';
import { inRealFolder } from '@notebridge/system/files/real-folder';
import { followLinks, inspectTarget, keepOwner, syncFolder } from '@notebridge/system/files/replace-file';
import { isWithin } from '@notebridge/system/starts/find-written';
import { NotebookError } from '../model/errors.js';

/** What was found on disk. */
export type Found =
  /** As it was when it was last read or written here. */
  { readonly kind: 'same' } | { readonly kind: 'removed' } | FoundFile;

export interface FoundFile {
  readonly kind: 'changed';
  readonly bytes: Uint8Array;
  readonly stamp: Stamp;
  readonly hash: string;
}

/** `ctimeNs` reveals a change whose author has reset the time of modification. */
type Stamp = Readonly<Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>>;

interface Replacement {
  bytes: Uint8Array;
  old: Stats | undefined;
  /** Gives the new file its name. False if it is not to be replaced. */
  put: (temporary: string, file: string) => Promise<boolean>;
}

/**
 * One file that other programs may change too: remembers how it was last seen, and replaces it only if it still is so.
 * Readers see the old content or the new, never a part, also after a power cut or kill -9.
 */
export class DiskFile {
  /** With all links resolved: what a rename has to hit. */
  readonly path: string;
  readonly #maxBytes: number;
  #known: { stamp: Stamp; hash: string } | undefined;
  /** What the last look has found and nobody accepted yet, so that it is read once only. */
  #pending: FoundFile | undefined;

  private constructor(path: string, maxBytes: number) {
    this.path = path;
    this.#maxBytes = maxBytes;
  }

  /**
   * `isReal`: all links of the path have been resolved before, and what is one now was put there since. Rejects for it, and for a link that
   * code may have put: it would choose the folder that its next kernel is given.
   */
  static async at(path: string, { maxBytes, isReal = false }: { maxBytes: number; isReal?: boolean | undefined }): Promise<DiskFile> {
    const real = await followLinks(path);
    if (isReal && real !== path) throw new Error('a part of its path is a link that was put there since, or by code in a notebook');
    const written = writtenFolderOf(path);
    if (written !== undefined && !isWithin(real, written))
      throw new Error(`a part of its path is a link in "${written}", where code could write, and leads out of that folder`);
    return new DiskFile(real, maxBytes);
  }

  /** Throws the error of the system, `too_large` for what is beyond the limit. */
  async look(): Promise<Found> {
    const looked = await this.#inFolder((file) => this.#lookAt(file)).catch(ignoreMissing);
    return looked ?? { kind: this.#known ? 'removed' : 'same' };
  }

  async #lookAt(file: string): Promise<Found | undefined> {
    const found = await lstat(file, { bigint: true }).catch(ignoreMissing);
    if (!found) return undefined;
    const stamp = toStamp(found);
    if (this.#known && isDeepStrictEqual(stamp, this.#known.stamp)) return { kind: 'same' };
    if (this.#pending && isDeepStrictEqual(stamp, this.#pending.stamp)) return this.#pending;
    const bytes = await this.#read(file, found);
    const hash = hashOf(bytes);
    if (hash === this.#known?.hash) {
      this.#know({ stamp, hash });
      return { kind: 'same' };
    }
    this.#pending = { kind: 'changed', bytes, stamp, hash };
    return this.#pending;
  }

  /** What was found is from now on what the file is expected to be. */
  accept({ stamp, hash }: FoundFile): void {
    this.#know({ stamp, hash });
  }

  /** Whatever is there now, or nothing, may be replaced by the next `write`. */
  async acceptAnything(): Promise<void> {
    const found = await this.#inFolder((file) => lstat(file, { bigint: true })).catch(ignoreMissing);
    this.#know(found && { stamp: toStamp(found), hash: '' });
  }

  /** Makes a file that is not there yet. False if somebody else was faster. */
  async create(bytes: Uint8Array): Promise<boolean> {
    const put = async (temporary: string, file: string): Promise<boolean> => {
      try {
        // Unlike a rename, a link never replaces.
        await link(temporary, file);
      } catch (error) {
        if (errnoOf(error) === 'EEXIST') return false;
        if (await stat(file).catch(ignoreMissing)) return false;
        // Some file systems have no links.
        await rename(temporary, file);
      }
      await rm(temporary, { force: true });
      return true;
    };
    return this.#inFolder((file) => this.#replace(file, { bytes, old: undefined, put }));
  }

  /** Replaces the file, keeping its mode and owner. False, and nothing is written, if it is not as it was last seen. */
  async write(bytes: Uint8Array): Promise<boolean> {
    const put = async (temporary: string, file: string): Promise<boolean> => {
      // As late as can be: what another program writes between here and the rename is lost.
      const now = await lstat(file, { bigint: true }).catch(ignoreMissing);
      const isExpected = now ? this.#known !== undefined && isDeepStrictEqual(toStamp(now), this.#known.stamp) : this.#known === undefined;
      if (isExpected) await rename(temporary, file);
      return isExpected;
    };
    return this.#inFolder(async (file) => this.#replace(file, { bytes, old: await inspect(file), put }));
  }

  /** Removes what a killed program of ours has left beside the file. Only for who holds the file's lock. */
  async sweep(): Promise<void> {
    await this.#inFolder(async (file) => {
      const folder = dirname(file);
      const names = await readdir(folder).catch(() => []);
      const left = names.filter((name) => name.startsWith(this.#temporaryStart) && name.endsWith('.tmp'));
      await Promise.all(left.map((name) => rm(join(folder, name), { force: true }).catch(ignore)));
    });
  }

  /** Links were followed once, when it was opened. `file`: the way to it that nobody can turn elsewhere meanwhile. */
  #inFolder<Result>(work: (file: string) => Promise<Result>): Promise<Result> {
    return inRealFolder(dirname(this.path), (place) => work(join(place, basename(this.path))));
  }

  get #temporaryStart(): string {
    return `.${basename(this.path).slice(0, 100)}.notebridge-`;
  }

  async #replace(file: string, { bytes, old, put }: Replacement): Promise<boolean> {
    const temporary = join(dirname(file), `${this.#temporaryStart}${randomBytes(6).toString('hex')}.tmp`);
    try {
      const written = await writeNew(temporary, bytes, old);
      if (await put(temporary, file)) {
        await syncFolder(dirname(file));
        await this.#remember(file, { written, hash: hashOf(bytes) });
        return true;
      }
      return false;
    } finally {
      await rm(temporary, { force: true }).catch(ignore);
    }
  }

  /** The rename has changed one of the times. If it is not our file any more, the next look finds that out. */
  async #remember(file: string, { written, hash }: { written: Stamp; hash: string }): Promise<void> {
    const found = await lstat(file, { bigint: true }).catch(ignore);
    const now = found && toStamp(found);
    const isOurs = now && isDeepStrictEqual({ ...now, ctimeNs: written.ctimeNs }, written);
    this.#know({ stamp: isOurs ? now : written, hash });
  }

  #know(known: { stamp: Stamp; hash: string } | undefined): void {
    this.#known = known;
    this.#pending = undefined;
  }

  async #read(path: string, found: BigIntStats): Promise<Buffer> {
    if (found.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    // Code in a sandbox that may write to the folder can put one here, to a file of the person's that it cannot read: what is read here is
    // saved where it can.
    if (found.isSymbolicLink()) throw new Error('it is a link now, which it was not when it was opened');
    // A pipe or a device would never end.
    if (!found.isFile()) throw new Error('it is no regular file');
    if (found.size > BigInt(this.#maxBytes)) throw tooLarge(found.size, this.#maxBytes);
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      if (!(await file.stat()).isFile()) throw new Error('it is no regular file');
      const bytes = await file.readFile();
      if (bytes.length > this.#maxBytes) throw tooLarge(bytes.length, this.#maxBytes);
      return bytes;
    } finally {
      await file.close();
    }
  }
}

/** Root may write everything, but what nobody shall write is meant so. */
async function inspect(path: string): Promise<Stats | undefined> {
  const found = await inspectTarget(path);
  if (found && (found.mode & 0o222) === 0) throw Object.assign(new Error('the file is read-only'), { code: 'EACCES' });
  return found;
}

/** With the old file's mode and owner; a new one is as open as the person's umask makes it. */
async function writeNew(path: string, bytes: Uint8Array, old: Stats | undefined): Promise<Stamp> {
  const file = await open(path, 'wx', old ? 0o600 : 0o666);
  try {
    await file.writeFile(bytes);
    if (old) await keepOwner(file, old);
    if (old) await file.chmod(old.mode & 0o7777);
    await file.sync();
    return toStamp(await file.stat({ bigint: true }));
  } finally {
    await file.close();
  }
}

function toStamp({ ino, size, mtimeNs, ctimeNs }: BigIntStats): Stamp {
  return { ino, size, mtimeNs, ctimeNs };
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function tooLarge(bytes: bigint | number, maxBytes: number): NotebookError {
  const inMiB = (count: bigint | number) => `${Math.ceil(Number(count) / 2 ** 20)} MiB`;
  return new NotebookError('too_large', `The notebook has ${inMiB(bytes)}; ${inMiB(maxBytes)} are allowed.`, {
    data: { bytes: Number(bytes), maxBytes },
  });
}

/** Changes that the system does not report (network file systems, too many watches, a moved folder) are found by polling. */
const lookMs = 3000;

/**
 * Calls the listener when a file may have changed, which the listener checks; returns a function that ends it. Watches with Node
 * alone: chokidar drops events that follow each other closely, which would lose changes, and nothing that it adds is needed here.
 */
export function watchDisk(path: string, onMaybe: () => void, logger: Logger): () => void {
  let isClosed = false;
  const notify = () => {
    if (!isClosed) onMaybe();
  };
  const timer = setInterval(notify, lookMs).unref();
  const watcher = watchFolder(path, notify, (error) => {
    const fields = { path, error: messageOf(error) };
    logger.warn('The file cannot be watched; it is looked at every few seconds instead.', fields);
  });
  return () => {
    isClosed = true;
    clearInterval(timer);
    watcher?.close();
  };
}

/** On the folder, because most programs replace the file, and a watch on the file would end with the old one. */
function watchFolder(path: string, notify: () => void, warn: (error: unknown) => void): FSWatcher | undefined {
  const name = basename(path);
  try {
    return watch(dirname(path), { persistent: false }, (_, changed) => {
      if (changed === null || changed === name) notify();
    }).on('error', warn);
  } catch (error) {
    warn(error);
    return undefined;
  }
}
