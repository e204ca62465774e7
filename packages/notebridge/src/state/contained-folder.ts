import { constants, lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { errnoOf, reasonOf } from '../util/errno.js';

/** One entry of a folder; links are followed as long as they stay inside. */
export interface ContainedEntry {
  name: string;
  /** From the contained folder, with `/`. */
  path: string;
  kind: 'file' | 'folder' | 'outside' | 'other';
}

/** What came of reading a file. `why` completes the sentence "the file …". */
export type ContainedRead =
  | { kind: 'read'; bytes: Buffer }
  | { kind: 'absent' }
  | { kind: 'outside' }
  | { kind: 'folder' }
  | { kind: 'unreadable'; why: string };

/** A folder that others may write to: what is read through it lies in it, whatever paths and links say. */
export class ContainedFolder {
  /** The real path. */
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Undefined if there is no such folder. */
  static async open(path: string): Promise<ContainedFolder | undefined> {
    try {
      const real = await realpath(path);
      return (await stat(real)).isDirectory() ? new ContainedFolder(real) : undefined;
    } catch {
      return undefined;
    }
  }

  get name(): string {
    return basename(this.path);
  }

  /** A folder inside, contained in itself from then on. Undefined if there is none, or if it is outside. */
  async enter(path: string): Promise<ContainedFolder | undefined> {
    const real = await this.#resolve(path);
    if (real === undefined || real === 'outside') return undefined;
    return ContainedFolder.open(real);
  }

  /** What is in a folder inside, in the order of names, at most `mostEntries` (default 1000); nothing if there is no such folder. */
  async list(path = '.', mostEntries = 1000): Promise<ContainedEntry[]> {
    const real = await this.#resolve(path);
    if (real === undefined || real === 'outside') return [];
    const found = await readdir(real, { withFileTypes: true }).catch(() => []);
    const names = found.sort((one, other) => (one.name < other.name ? -1 : 1)).slice(0, mostEntries);
    return Promise.all(
      names.map(async (entry) => {
        const inner = path === '.' ? entry.name : `${path}/${entry.name}`;
        const kind = entry.isSymbolicLink() ? await this.#kindOf(inner) : kindOf(entry);
        return { name: entry.name, path: inner, kind };
      }),
    );
  }

  /** A text that changes when the file does; undefined if there is no such file inside. */
  async versionOf(path: string): Promise<string | undefined> {
    const real = await this.#resolve(path);
    if (real === undefined || real === 'outside') return undefined;
    const found = await stat(real, { bigint: true }).catch(() => undefined);
    return found?.isFile() === true ? `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}` : undefined;
  }

  /** The real path of a file inside, for a program that is to open it itself. */
  async realPathOf(path: string): Promise<string | undefined> {
    const real = await this.#resolve(path);
    return real === 'outside' || real === undefined || !(await isFile(real)) ? undefined : real;
  }

  async read(path: string, maxBytes: number): Promise<ContainedRead> {
    const real = await this.#resolve(path);
    if (real === undefined) return { kind: 'absent' };
    if (real === 'outside') return { kind: 'outside' };
    try {
      return await this.#readReal(path, real, maxBytes);
    } catch (error) {
      return { kind: 'unreadable', why: `cannot be read: ${reasonOf(error)}` };
    }
  }

  async #readReal(path: string, real: string, maxBytes: number): Promise<ContainedRead> {
    // Neither a link put there a moment ago, nor a pipe that would hang us.
    const file = await open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const found = await file.stat();
      if (found.isDirectory()) return { kind: 'folder' };
      if (!found.isFile()) return { kind: 'unreadable', why: 'is not a regular file' };
      // A folder on the way may have been swapped for a link between the check and the opening: what was opened has to be what stands there.
      const again = await this.#resolve(path);
      const standing = again === undefined || again === 'outside' ? undefined : await lstat(again);
      if (standing?.ino !== found.ino || standing.dev !== found.dev) return { kind: 'outside' };
      if (found.size > maxBytes) return { kind: 'unreadable', why: `is ${found.size} bytes large; at most ${maxBytes} are read` };
      const bytes = Buffer.alloc(Math.min(found.size, maxBytes));
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return { kind: 'read', bytes: bytes.subarray(0, length) };
    } finally {
      await file.close();
    }
  }

  /** The real path of what stands at a path inside; undefined if nothing does. */
  async #resolve(path: string): Promise<string | 'outside' | undefined> {
    if (path.includes('\0')) return undefined;
    try {
      const real = await realpath(join(this.path, path));
      return this.#holds(real) ? real : 'outside';
    } catch (error) {
      // Nothing is told of what exists outside.
      if (!this.#holds(join(this.path, path))) return 'outside';
      return errnoOf(error) === 'ELOOP' || errnoOf(error) === 'EACCES' ? 'outside' : undefined;
    }
  }

  #holds(path: string): boolean {
    const inner = relative(this.path, path);
    return inner === '' || (inner !== '..' && !inner.startsWith(`..${sep}`) && join(this.path, inner) === path);
  }

  async #kindOf(path: string): Promise<ContainedEntry['kind']> {
    const real = await this.#resolve(path);
    if (real === 'outside') return 'outside';
    const found = real === undefined ? undefined : await stat(real).catch(() => undefined);
    return found === undefined ? 'other' : kindOf(found);
  }
}

function kindOf(found: { isFile(): boolean; isDirectory(): boolean }): ContainedEntry['kind'] {
  if (found.isFile()) return 'file';
  return found.isDirectory() ? 'folder' : 'other';
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}
