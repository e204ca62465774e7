/** The folder of Python's file system, in memory, whose files go to whoever runs the code. */
import type { PyodideAPI } from 'pyodide';
import { maxNamed, outFolder, type PrintedWritten, type WhyLeftOut, type WrittenBounds } from '../written-files.js';

/** Entries that are looked at, and folders above a file. */
const maxLooked = 2000;
const maxDepth = 8;

interface Stats {
  mode: number;
  size: number;
  ino: number;
  mtime: Date;
  ctime: Date;
}

interface Entry {
  path: string;
  stats: Stats;
  /** Undefined: a file that may be given. */
  why: WhyLeftOut | undefined;
}

export interface Taken {
  /** JSON of `PrintedWritten`. */
  text: string;
  data: Uint8Array<ArrayBuffer>;
}

export function nothingTaken(): Taken {
  const nothing: PrintedWritten = { files: [], leftOut: [], more: 0, unseen: 0 };
  return { text: JSON.stringify(nothing), data: new Uint8Array(0) };
}

/** Python runs in this thread: no file changes while they are taken. */
export class OutFolder {
  readonly #fs: PyodideAPI['FS'];
  /** Each entry as it was when it was last looked at. */
  #seen = new Map<string, string>();
  #seenAtMs = 0;

  constructor({ FS }: PyodideAPI) {
    this.#fs = FS;
    FS.mkdirTree(outFolder);
  }

  /** What is new or changed since the last time. Never throws. */
  take(bounds: WrittenBounds): Taken {
    try {
      return this.#take(bounds);
    } catch {
      return nothingTaken();
    }
  }

  #take({ maxFiles, maxBytes }: WrittenBounds): Taken {
    const { entries, unseen } = this.#look();
    const printed: PrintedWritten = { files: [], leftOut: [], more: 0, unseen };
    const parts: Uint8Array[] = [];
    let left = maxBytes;
    const leaveOut = ({ path, stats }: Entry, why: WhyLeftOut): void => {
      if (printed.leftOut.length < maxNamed) printed.leftOut.push([path, stats.size, why]);
      else printed.more++;
    };
    for (const entry of this.#changed(entries)) {
      const { path, stats, why } = entry;
      const reason = why ?? (printed.files.length >= maxFiles ? 'files' : stats.size > left ? 'bytes' : undefined);
      const data = reason === undefined ? this.#read(path, left) : undefined;
      if (data === undefined) {
        leaveOut(entry, reason ?? 'fault');
        continue;
      }
      printed.files.push([path, data.length]);
      parts.push(data);
      left -= data.length;
    }
    const data = new Uint8Array(maxBytes - left);
    let at = 0;
    for (const part of parts) {
      data.set(part, at);
      at += part.length;
    }
    return { text: JSON.stringify(printed), data };
  }

  /** All entries, the folders apart, in the order of their paths. Links are not followed. */
  #look(): { entries: Entry[]; unseen: number } {
    const fs = this.#fs;
    const lstat = (path: string): Stats => fs.lstat(path === '' ? outFolder : `${outFolder}/${path}`) as Stats;
    if (!fs.analyzePath(outFolder, true).exists) fs.mkdirTree(outFolder);
    const top = lstat('');
    if (!fs.isDir(top.mode)) return { entries: [{ path: '', stats: top, why: 'kind' }], unseen: 0 };
    const entries: Entry[] = [];
    let [looked, unseen] = [0, 0];
    const folders = [{ path: '', depth: 0 }];
    for (const folder of folders) {
      const names = (fs.readdir(folder.path === '' ? outFolder : `${outFolder}/${folder.path}`) as string[]).filter(
        (name) => name !== '.' && name !== '..',
      );
      const shown = names.slice(0, maxLooked - looked);
      looked += shown.length;
      unseen += names.length - shown.length;
      for (const name of shown) {
        const path = folder.path === '' ? name : `${folder.path}/${name}`;
        const stats = lstat(path);
        const isFolder = fs.isDir(stats.mode);
        if (isFolder && folder.depth < maxDepth) folders.push({ path, depth: folder.depth + 1 });
        else entries.push({ path, stats, why: isFolder ? 'depth' : fs.isFile(stats.mode) ? undefined : 'kind' });
      }
    }
    return { entries: entries.sort((one, other) => (one.path < other.path ? -1 : 1)), unseen };
  }

  /** Those that are not as they were. What was written in the very millisecond of the last look counts as new. */
  #changed(entries: readonly Entry[]): Entry[] {
    const before = this.#seen;
    const beforeMs = this.#seenAtMs;
    this.#seen = new Map(entries.map(({ path, stats }) => [path, stampOf(stats)]));
    this.#seenAtMs = Date.now();
    return entries.filter(({ path, stats }) => before.get(path) !== stampOf(stats) || stats.ctime.getTime() >= beforeMs);
  }

  #read(path: string, max: number): Uint8Array | undefined {
    try {
      const data = this.#fs.readFile(`${outFolder}/${path}`) as Uint8Array;
      return data.length <= max ? data : undefined;
    } catch {
      return undefined;
    }
  }
}

function stampOf({ ino, size, mtime, ctime }: Stats): string {
  return `${ino} ${size} ${mtime.getTime()} ${ctime.getTime()}`;
}
