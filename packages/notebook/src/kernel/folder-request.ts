/** What code wants of the folder. Paths are relative, of names alone; the empty one is the folder itself. */
export type FolderRequest =
  | { readonly op: 'look' | 'target' | 'list' | 'open'; readonly path: string }
  | { readonly op: 'stat' | 'close'; readonly handle: number }
  | { readonly op: 'read'; readonly handle: number; readonly at: number; readonly length: number };

/** Of one answer. */
const maxReadBytes = 1024 * 1024;
const maxPathCharacters = 4096;

/** Undefined for what is none: code may have forged it. */
export function parseFolderRequest(text: string): FolderRequest | undefined {
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

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
