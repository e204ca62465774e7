import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** The text of a plain file, or undefined: for files of strangers, so nothing that blocks (a pipe) or never ends is read. */
export function readSmallFile(path: string, maxBytes = 64 * 1024): string | undefined {
  return readPart(path, maxBytes, true);
}

/** As `readSmallFile`, of a file of any size, and no more than its first bytes. */
export function readHead(path: string, maxBytes: number): string | undefined {
  return readPart(path, maxBytes, false);
}

function readPart(path: string, maxBytes: number, isWhole: boolean): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(file);
    if (!found.isFile() || (isWhole && found.size > maxBytes)) return undefined;
    const bytes = Buffer.alloc(maxBytes);
    return bytes.subarray(0, readSync(file, bytes, 0, maxBytes, 0)).toString('utf8');
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
