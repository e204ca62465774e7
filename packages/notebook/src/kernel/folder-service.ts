/** The notebook's folder, to read, for code in a worker that has no files of its own: see host-services.ts. */
import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, opendir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { findHiddenPlaces } from '@notebridge/sandbox/hidden-places';
import { type ContainedFind, type ContainedWalk, kindOf } from '@notebridge/system/files/contained-walk';
import { walkByHandles } from '@notebridge/system/files/handle-walk';
import { walkByPath } from '@notebridge/system/files/path-walk';
import type { HostService, ServiceMessage } from './host-services.js';
import { isCount } from './messages.js';

export interface FolderServiceOptions {
  /** Its path is trusted, and may be a link. */
  readonly folder: string;
  /** Files and folders of this program that code never sees. */
  readonly ours?: readonly string[] | undefined;
  /** @internal How paths are followed. Default: by handles on Linux, by paths elsewhere. */
  readonly walk?: ContainedWalk | undefined;
  /** Files that are open at once. Default: 64; each takes two descriptors. */
  readonly maxOpenFiles?: number | undefined;
  /** Names of one folder. Default: 200,000; a larger one is not listed. */
  readonly maxEntries?: number | undefined;
}

interface OpenFile {
  readonly file: FileHandle;
  close(): Promise<void>;
}

/** What stands in the way, as the worker's file system passes it on. `why` completes "it …", where the system's word says too little. */
class Refusal extends Error {
  readonly errno: string;
  readonly why: string | undefined;

  constructor(errno: string, why?: string) {
    super(why ?? errno);
    this.errno = errno;
    this.why = why;
  }
}

/** Keys may come to stand there while the notebook is open; looked for again after this time. */
const hiddenForMs = 1000;
const outside = 'leads out of the folder of the notebook';
const secret = 'is never shown to code, since keys or tokens are kept there';

/**
 * Reads below a folder, whatever its links say and whatever is renamed meanwhile: what was opened is the proof (`handle-walk.ts`). No pipe and
 * no device is opened, and nothing is shown where people keep keys. A file is read in pieces, as it is at that moment.
 */
export class FolderService implements HostService {
  readonly #options: FolderServiceOptions;
  readonly #walk: ContainedWalk;
  readonly #files = new Map<number, OpenFile>();
  #lastHandle = 0;
  #root: Promise<string> | undefined;
  #hidden: { places: readonly string[]; untilMs: number } = { places: [], untilMs: 0 };
  #isClosed = false;
  /** The request before, which never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: FolderServiceOptions) {
    this.#options = options;
    this.#walk = options.walk ?? (process.platform === 'linux' ? walkByHandles : walkByPath);
  }

  async call({ text }: { text: string }): Promise<ServiceMessage> {
    const request = parseFolderRequest(text);
    // One after the other: code asks no other way, and each holds a descriptor for every name of its path.
    const answer = this.#last.then(() => this.#answer(request));
    this.#last = answer;
    return answer;
  }

  async #answer(request: FolderRequest | undefined): Promise<ServiceMessage> {
    try {
      if (!request || this.#isClosed) throw new Refusal(request ? 'EBADF' : 'EINVAL');
      return await this.#carryOut(request);
    } catch (error) {
      const { errno, why } = toRefusal(error);
      return toAnswer({ errno, ...(why === undefined ? {} : { why }) });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const files = [...this.#files.values()];
    this.#files.clear();
    await Promise.all(files.map((open) => open.close()));
  }

  #carryOut(request: FolderRequest): Promise<ServiceMessage> {
    switch (request.op) {
      case 'look':
        return this.#look(request.path);
      case 'target':
        return this.#target(request.path);
      case 'list':
        return this.#list(request.path);
      case 'open':
        return this.#open(request.path);
      case 'stat':
        return this.#statOpen(request.handle);
      case 'read':
        return this.#read(request);
      case 'close':
        return this.#closeFile(request.handle);
    }
  }

  /** What stands at a path, which may be a link. */
  async #look(path: string): Promise<ServiceMessage> {
    if (path === '') return this.#at('', async (found) => toAnswer(describe(found.stats)));
    const parent = dirname(path) === '.' ? '' : dirname(path);
    return this.#at(parent, async (found) => {
      if (found.kind !== 'folder') throw new Refusal('ENOTDIR');
      const name = basename(path);
      this.#assertShown(join(await this.#realRoot(), ...found.inner, name));
      return toAnswer(describe(await lstat(join(found.location, name), { bigint: true })));
    });
  }

  /** Where a link leads to: a path of the folder that has no link in it. */
  async #target(path: string): Promise<ServiceMessage> {
    // One that leads out is like one that leads nowhere, as in a sandbox: who walks over folders passes it by.
    return this.#at(path, async ({ inner }) => toAnswer({ target: inner.join('/') }), 'ENOENT');
  }

  /** Names and kinds; what is no UTF-8 could not be named by code, and is left out with what is hidden. */
  async #list(path: string): Promise<ServiceMessage> {
    return this.#at(path, async (found) => {
      if (found.kind !== 'folder') throw new Refusal('ENOTDIR');
      const { maxEntries = 200_000 } = this.#options;
      const place = join(await this.#realRoot(), ...found.inner);
      const hidden = new Set(this.#hiddenPlaces());
      const names: string[] = [];
      let kinds = '';
      // Its types know only of texts.
      const entries = await opendir(found.location, { encoding: 'buffer' as BufferEncoding, bufferSize: 1024 });
      for await (const entry of entries) {
        const name = toText(entry.name as unknown as Buffer);
        if (name === undefined || hidden.has(join(place, name))) continue;
        if (names.push(name) > maxEntries) throw new Refusal('EOVERFLOW', `has more than ${maxEntries} entries, and is not listed`);
        kinds += entry.isSymbolicLink() ? 'l' : letterOf[kindOf(entry)];
      }
      return toAnswer({ names: names.join('/'), kinds });
    });
  }

  async #open(path: string): Promise<ServiceMessage> {
    if (this.#files.size >= (this.#options.maxOpenFiles ?? 64)) throw new Refusal('EMFILE');
    const open = await this.#hold(path);
    const handle = ++this.#lastHandle;
    if (this.#isClosed) await open.close();
    else this.#files.set(handle, open);
    return toAnswer({ handle });
  }

  /** The file stays open for as long as it is held. */
  #hold(path: string): Promise<OpenFile> {
    return new Promise((resolve, reject) => {
      const ended = this.#at(path, async (found) => {
        if (found.kind === 'folder') throw new Refusal('EISDIR');
        if (found.kind !== 'file') throw new Refusal('EACCES', 'is no regular file');
        await found.withReader(
          (file) =>
            new Promise<void>((release) =>
              resolve({
                file,
                close: async () => {
                  release();
                  await ended;
                },
              }),
            ),
        );
      });
      ended.catch(reject);
    });
  }

  async #statOpen(handle: number): Promise<ServiceMessage> {
    return toAnswer(describe(await this.#fileOf(handle).stat({ bigint: true })));
  }

  async #read({ handle, at, length }: { handle: number; at: number; length: number }): Promise<ServiceMessage> {
    const bytes = new Uint8Array(length);
    const { bytesRead } = await this.#fileOf(handle).read(bytes, 0, length, at);
    return { text: '{}', data: bytes.subarray(0, bytesRead) };
  }

  async #closeFile(handle: number): Promise<ServiceMessage> {
    const open = this.#files.get(handle);
    this.#files.delete(handle);
    await open?.close();
    return toAnswer({});
  }

  #fileOf(handle: number): FileHandle {
    const open = this.#files.get(handle);
    if (!open) throw new Refusal('EBADF');
    return open.file;
  }

  async #at<Result>(path: string, work: (found: ContainedFind) => Promise<Result>, ifOutside = 'EACCES'): Promise<Result> {
    const root = await this.#realRoot();
    const found = await this.#walk({ root, inner: [] }, path === '' ? '.' : path);
    if (found === 'absent') throw new Refusal('ENOENT');
    if (found === 'outside') throw new Refusal(ifOutside, outside);
    try {
      this.#assertShown(join(root, ...found.inner));
      return await work(found);
    } finally {
      await found.close();
    }
  }

  #assertShown(place: string): void {
    if (this.#hiddenPlaces().some((hidden) => place === hidden || place.startsWith(`${hidden}/`))) throw new Refusal('EACCES', secret);
  }

  #realRoot(): Promise<string> {
    this.#root ??= realpath(this.#options.folder).then((root) => {
      // It is named by its real path: a link was put in its place.
      if (root !== this.#options.folder) throw new Refusal('EACCES', outside);
      return root;
    });
    return this.#root;
  }

  #hiddenPlaces(): readonly string[] {
    const nowMs = performance.now();
    if (nowMs >= this.#hidden.untilMs)
      this.#hidden = { places: findHiddenPlaces([this.#options.folder], this.#options.ours), untilMs: nowMs + hiddenForMs };
    return this.#hidden.places;
  }
}

const letterOf = { file: 'f', folder: 'd', other: 'o' } as const;

function describe(stats: BigIntStats): object {
  return {
    kind: stats.isSymbolicLink() ? 'l' : letterOf[kindOf(stats)],
    size: Number(stats.size),
    mtimeMs: Number(stats.mtimeMs),
    executable: (stats.mode & 0o100n) !== 0n,
    // As many digits as JavaScript keeps: it tells files apart, and is nothing else.
    ino: Number(BigInt.asUintN(52, stats.ino)),
  };
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const errno = errnoOf(error) ?? 'EIO';
  return new Refusal(errno, errno === 'EACCES' || errno === 'EPERM' ? 'may not be read by the user who runs Notebridge' : undefined);
}

function toText(name: Buffer): string | undefined {
  const text = name.toString('utf8');
  return Buffer.from(text, 'utf8').equals(name) ? text : undefined;
}

function toAnswer(value: object): ServiceMessage {
  return { text: JSON.stringify(value) };
}

/** What code wants of the folder. Paths are relative, of names alone; the empty one is the folder itself. */
type FolderRequest =
  | { readonly op: 'look' | 'target' | 'list' | 'open'; readonly path: string }
  | { readonly op: 'stat' | 'close'; readonly handle: number }
  | { readonly op: 'read'; readonly handle: number; readonly at: number; readonly length: number };

/** Of one answer. */
const maxReadBytes = 1024 * 1024;
const maxPathCharacters = 4096;

/** Undefined for what is none: code may have forged it. */
function parseFolderRequest(text: string): FolderRequest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { op, path, handle, at, length } = value as { [key: string]: unknown };
  switch (op) {
    case 'look':
    case 'target':
    case 'list':
    case 'open':
      return isPath(path) ? { op, path } : undefined;
    case 'stat':
    case 'close':
      return isCount(handle) ? { op, handle } : undefined;
    case 'read':
      return isCount(handle) && isCount(at) && isCount(length) ? { op, handle, at, length: Math.min(length, maxReadBytes) } : undefined;
    default:
      return undefined;
  }
}

/** Backslashes and colons are more than a part of a name on Windows. */
const notInNames = process.platform === 'win32' ? /[\0\\:]/ : /\0/;

function isPath(path: unknown): path is string {
  if (typeof path !== 'string' || path.length > maxPathCharacters || notInNames.test(path)) return false;
  return path === '' || path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}
