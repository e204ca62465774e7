/** Files that code has written for whoever runs it, as they come from the worker. */
import { isCount } from './messages.js';

/** Where code writes them; what stands elsewhere is its own. */
export const outFolder = '/out';

export interface WrittenBounds {
  /** Files that are given at most. */
  maxFiles: number;
  /** Bytes of all of them together. */
  maxBytes: number;
}

export interface WrittenFile {
  /** Below the folder, with slashes. */
  path: string;
  data: Uint8Array;
}

/** Its size or the number of files, a link or device, too many folders above it, or a fault. */
export type WhyLeftOut = 'bytes' | 'files' | 'kind' | 'depth' | 'fault';

export interface LeftOutFile {
  path: string;
  bytes: number;
  why: WhyLeftOut;
}

/** What code has written since it was last asked for. */
export interface Written {
  files: WrittenFile[];
  /** The first of those that are left out. */
  leftOut: LeftOutFile[];
  /** How many more are left out. */
  more: number;
  /** Entries of the folder that were not looked at, since there are too many. */
  unseen: number;
}

/** `Written` as JSON; the bytes of the files come beside it, one behind the other. */
export interface PrintedWritten {
  files: [path: string, bytes: number][];
  leftOut: [path: string, bytes: number, why: WhyLeftOut][];
  more: number;
  unseen: number;
}

/** Left-out files that are named. */
export const maxNamed = 10;
/** Of a path, as Emscripten has them. */
const maxPath = 4096;

const reasons: ReadonlySet<unknown> = new Set<WhyLeftOut>(['bytes', 'files', 'kind', 'depth', 'fault']);

/** Code in the worker may have forged it: what is not as it was asked for is `undefined`. */
export function parseWritten(text: string, data: Uint8Array, { maxFiles, maxBytes }: WrittenBounds): Written | undefined {
  if (data.length > maxBytes) return undefined;
  let printed: Partial<PrintedWritten> | undefined;
  try {
    printed = JSON.parse(text) as Partial<PrintedWritten>;
  } catch {
    return undefined;
  }
  const { files, leftOut, more, unseen } = printed ?? {};
  if (!isListOf(files, maxFiles) || !isListOf(leftOut, maxNamed) || !isCount(more) || !isCount(unseen)) return undefined;
  let at = 0;
  const given: WrittenFile[] = [];
  for (const [path, bytes] of files) {
    if (!isPath(path) || !isCount(bytes) || at + bytes > data.length) return undefined;
    given.push({ path, data: data.subarray(at, at + bytes) });
    at += bytes;
  }
  if (at !== data.length) return undefined;
  const named: LeftOutFile[] = [];
  for (const [path, bytes, why] of leftOut) {
    if (!(path === '' || isPath(path)) || !isCount(bytes) || !reasons.has(why)) return undefined;
    named.push({ path, bytes, why });
  }
  return { files: given, leftOut: named, more, unseen };
}

function isListOf<Item>(value: readonly Item[] | undefined, most: number): value is readonly Item[] {
  return Array.isArray(value) && value.length <= most && value.every((item) => Array.isArray(item));
}

/** One below the folder. */
function isPath(path: unknown): path is string {
  if (typeof path !== 'string' || path.length > maxPath || path.includes('\0')) return false;
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}
