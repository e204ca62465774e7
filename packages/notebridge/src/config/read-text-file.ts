import { readFile, stat } from 'node:fs/promises';
import { TextDecoder } from 'node:util';
import { errnoOf, reasonOf, remedyOf } from '@notebridge/protocol/util/errno';

/** What came of reading a file. `why` completes the sentence "the file …"; `next` is what to do about it. */
export type TextRead = { kind: 'text'; text: string } | { kind: 'absent' } | { kind: 'unreadable'; why: string; next: string };

/**
 * Reads a UTF-8 file of at most `maxBytes`, without its byte order mark. Anything but a regular file is refused: a pipe or a
 * device would hang the start or fill the memory. Never throws.
 */
export async function readTextFile(path: string, maxBytes: number): Promise<TextRead> {
  try {
    const refusal = refuse(await stat(path), maxBytes);
    return refusal ?? decode(await readFile(path));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return { kind: 'absent' };
    return { kind: 'unreadable', why: `cannot be read: ${reasonOf(error)}`, next: remedyOf(error) };
  }
}

function refuse(found: { isFile(): boolean; isDirectory(): boolean; size: number }, maxBytes: number): TextRead | undefined {
  if (found.isDirectory()) return { kind: 'unreadable', why: 'is a folder', next: 'Name a file.' };
  if (!found.isFile()) return { kind: 'unreadable', why: 'is not a regular file', next: 'Name a file on disk.' };
  if (found.size <= maxBytes) return undefined;
  return {
    kind: 'unreadable',
    why: `is ${found.size} bytes large; at most ${maxBytes} are read`,
    next: 'Check that it is the right file.',
  };
}

function decode(bytes: Uint8Array): TextRead {
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
    return { kind: 'unreadable', why: `is not UTF-8 text${utf16 ? ', but UTF-16' : ''}`, next: 'Save it as UTF-8.' };
  }
}
