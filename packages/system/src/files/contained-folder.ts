import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { basename, join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { reasonOf } from '@notebridge/protocol/util/errno';
import { Slots } from '@notebridge/protocol/util/slots';
import { type ContainedFind, type ContainedPlace, type ContainedWalk, kindOf } from './contained-walk.js';
import { walkByHandles } from './handle-walk.js';
import { walkByPath } from './path-walk.js';
import { systemFault } from './system-fault.js';

export interface ContainedFolderOptions {
  /**
   * Reads files that have more than one name, too. Such a file may be one from outside, and no path shows it. Default false. For folders
   * whose writers are all trusted: some package managers link every file.
   */
  allowsHardLinks?: boolean;
  /** How paths are followed. Default: by handles on Linux, by paths elsewhere. */
  walk?: ContainedWalk;
}

/** One entry of a folder; links are followed as long as they stay inside. */
export interface ContainedEntry {
  name: string;
  /** From the contained folder, with `/`. */
  path: string;
  kind: ContainedFind['kind'] | 'outside';
  /** For a link that stays inside: what it leads to, as `path`. */
  linkTo?: string;
}

/** Why there is nothing to read. `why` completes the sentence "the file …". */
export type ContainedRefusal =
  | { kind: 'absent' }
  | { kind: 'outside' }
  | { kind: 'folder' }
  | { kind: 'unreadable'; why: string; isTooLarge?: true };

/** What came of reading a file. `version` is that of `versionOf`, for these very bytes. */
export type ContainedRead = { kind: 'read'; bytes: Buffer; version: string } | ContainedRefusal;

/** A file that was copied, and how many bytes. */
export type ContainedCopy = { kind: 'copied'; bytes: number } | ContainedRefusal;

const copiedAtOnce = 65_536;
/** Each holds a handful of descriptors, and a list of skills asks for hundreds at once. */
const slots = new Slots(32);

/**
 * A folder that others may write to: what is read through it lies in it, whatever paths and links say. On Linux that is proven by what was
 * opened, also while entries are renamed and replaced (`handle-walk.ts`); `path-walk.ts` says what holds elsewhere. Other file systems that are
 * mounted inside belong to it: users who may mount there are trusted.
 */
export class ContainedFolder {
  readonly #place: ContainedPlace;
  readonly #walk: ContainedWalk;
  readonly #allowsHardLinks: boolean;

  private constructor(place: ContainedPlace, walk: ContainedWalk, allowsHardLinks: boolean) {
    this.#place = place;
    this.#walk = walk;
    this.#allowsHardLinks = allowsHardLinks;
  }

  /**
   * Undefined if there is no such folder. The path itself is trusted: it may be a link.
   *
   * @throws BridgeError `write_failed` if this system gives no way to prove where a file lies: Linux without `/proc`.
   */
  static async open(path: string, options: ContainedFolderOptions = {}): Promise<ContainedFolder | undefined> {
    const { walk = platform() === 'linux' ? walkByHandles : walkByPath, allowsHardLinks = false } = options;
    const root = await realpath(path).catch(() => undefined);
    if (root === undefined) return undefined;
    const folder = new ContainedFolder({ root, inner: [] }, walk, allowsHardLinks);
    const isFolder = await folder
      .#at('.', async (found) => {
        if (found.kind === 'folder') await assertHeld(found, root);
        return found.kind === 'folder';
      })
      .catch(orAbsent);
    return isFolder === true ? folder : undefined;
  }

  /** The real path. */
  get path(): string {
    return join(this.#place.root, ...this.#place.inner);
  }

  get name(): string {
    return basename(this.path);
  }

  /** A folder inside, contained in itself from then on. Undefined if there is none, or if it is outside. */
  async enter(path: string): Promise<ContainedFolder | undefined> {
    const inner = await this.#attempt(path, async (found) => (found.kind === 'folder' ? found.inner : undefined));
    if (!Array.isArray(inner)) return undefined;
    const { root, inner: own } = this.#place;
    return new ContainedFolder({ root, inner: [...own, ...inner] }, this.#walk, this.#allowsHardLinks);
  }

  /** What is in a folder inside, in the order of names, at most `mostEntries` (default 1000); nothing if there is no such folder. */
  async list(path = '.', mostEntries = 1000): Promise<ContainedEntry[]> {
    const names = await this.#attempt(path, async (found) => {
      const entries = await readdir(found.location, { withFileTypes: true });
      return entries.sort((one, other) => (one.name < other.name ? -1 : 1)).slice(0, mostEntries);
    });
    if (!Array.isArray(names)) return [];
    return Promise.all(
      names.map(async (entry) => {
        const inner = path === '.' ? entry.name : `${path}/${entry.name}`;
        return { name: entry.name, path: inner, ...(entry.isSymbolicLink() ? await this.#lookThrough(inner) : { kind: kindOf(entry) }) };
      }),
    );
  }

  /** A text that changes when the file does; undefined if there is no such file inside. */
  async versionOf(path: string): Promise<string | undefined> {
    const version = await this.#attempt(path, async (found) => (found.kind === 'file' ? { text: toVersion(found) } : undefined));
    return typeof version === 'object' ? version.text : undefined;
  }

  /** Calls with a path that leads to this very folder during the call, whatever is renamed. Undefined if the folder is gone. */
  async withLocation<Result extends object>(call: (location: string) => Result): Promise<Result | undefined> {
    const result = await this.#attempt('.', async (found) => ({ value: call(found.location) }));
    return typeof result === 'object' ? result.value : undefined;
  }

  /** As `withLocation`, for work that takes its time: the path leads there until that has settled. Rejects as it does, or if the folder is gone. */
  async holdLocation<Result>(work: (location: string) => Promise<Result>): Promise<Result> {
    const held = await this.#at('.', async (found) => ({ value: await work(found.location) }));
    if (typeof held === 'string') throw new Error(`the folder "${this.path}" is gone`);
    return held.value;
  }

  async read(path: string, maxBytes: number): Promise<ContainedRead> {
    return this.#withFile(path, { maxBytes, what: 'read' }, async (file, found) => {
      const bytes = Buffer.alloc(Number(found.stats.size));
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return { kind: 'read' as const, bytes: bytes.subarray(0, length), version: toVersion(found) };
    });
  }

  /**
   * Copies a file to a path where nothing stands yet, outside of the folder; it stays executable if it was.
   *
   * @throws BridgeError `write_failed` if the copy cannot be written, as on a disk that is full.
   */
  async copy(path: string, target: string, maxBytes: number): Promise<ContainedCopy> {
    return this.#withFile(path, { maxBytes, what: 'copied' }, async (file, { stats }) => {
      const made = await open(target, 'wx', (Number(stats.mode) & 0o100) | 0o600).catch((error: unknown) => failWriting(target, error));
      try {
        const bytes = Buffer.alloc(Math.min(copiedAtOnce, Number(stats.size)));
        let length = 0;
        // One that grows meanwhile is copied as long as it was.
        while (length < Number(stats.size)) {
          const { bytesRead } = await file.read(bytes, 0, Math.min(bytes.length, Number(stats.size) - length), length);
          if (bytesRead === 0) break;
          await made.writeFile(bytes.subarray(0, bytesRead)).catch((error: unknown) => failWriting(target, error));
          length += bytesRead;
        }
        return { kind: 'copied' as const, bytes: length };
      } finally {
        await made.close();
      }
    });
  }

  async #withFile<Result extends object>(
    path: string,
    { maxBytes, what }: { maxBytes: number; what: 'read' | 'copied' },
    work: (file: FileHandle, found: ContainedFind) => Promise<Result>,
  ): Promise<Result | ContainedRefusal> {
    try {
      const result = await this.#at<Result | ContainedRefusal>(path, async (found) => {
        if (found.kind === 'folder') return { kind: 'folder' };
        return this.#refusalOf(found, { maxBytes, what }) ?? found.withReader((file) => work(file, found));
      });
      return typeof result === 'string' ? { kind: result } : result;
    } catch (error) {
      // Of what we write ourselves it says nothing.
      if (error instanceof BridgeError) throw error;
      return { kind: 'unreadable', why: `cannot be ${what}: ${reasonOf(error)}` };
    }
  }

  #refusalOf({ kind, stats }: ContainedFind, { maxBytes, what }: { maxBytes: number; what: string }): ContainedRefusal | undefined {
    if (kind !== 'file') return { kind: 'unreadable', why: 'is not a regular file' };
    if (stats.nlink > 1n && !this.#allowsHardLinks) {
      const why = `has ${stats.nlink} names (hard links), so it may be a file from elsewhere; put a copy in its place`;
      return { kind: 'unreadable', why };
    }
    if (Number(stats.size) <= maxBytes) return undefined;
    return { kind: 'unreadable', why: `is ${stats.size} bytes large; at most ${maxBytes} are ${what}`, isTooLarge: true };
  }

  async #lookThrough(path: string): Promise<Pick<ContainedEntry, 'kind' | 'linkTo'>> {
    const found = await this.#attempt(path, async ({ kind, inner }) => ({ kind, linkTo: inner.join('/') }));
    if (typeof found === 'object') return found;
    return { kind: found === 'outside' ? 'outside' : 'other' };
  }

  async #attempt<Result>(path: string, work: (found: ContainedFind) => Promise<Result>): Promise<Result | 'absent' | 'outside'> {
    return this.#at(path, work).catch(orAbsent);
  }

  async #at<Result>(path: string, work: (found: ContainedFind) => Promise<Result>): Promise<Result | 'absent' | 'outside'> {
    if (path.includes('\0')) return 'absent';
    return slots.run(async () => {
      const found = await this.#walk(this.#place, path);
      if (typeof found === 'string') return found;
      try {
        return await work(found);
      } finally {
        await found.close();
      }
    });
  }
}

/** Without `/proc`, or with one of another process space, a path to a handle leads nowhere, or to something else. */
async function assertHeld({ location, stats }: ContainedFind, path: string): Promise<void> {
  const seen = await stat(join(location, '.'), { bigint: true }).catch(() => undefined);
  if (seen?.ino === stats.ino && seen.dev === stats.dev) return;
  throw new BridgeError(
    'write_failed',
    `Nothing is read from "${path}": "${location}" does not lead to it, so nothing proves where a file lies. Mount /proc of this process space.`,
    { data: { path, reason: 'no_proc' } },
  );
}

/** A file that is left out, or cut off, would be taken for one that was so. */
function failWriting(path: string, error: unknown): never {
  throw systemFault(`Cannot write "${path}"`, path, error);
}

/** Where the system refuses, there is nothing; what we have to say of it ourselves is said. */
function orAbsent(error: unknown): 'absent' {
  if (error instanceof BridgeError) throw error;
  return 'absent';
}

function toVersion({ stats }: ContainedFind): string {
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}
