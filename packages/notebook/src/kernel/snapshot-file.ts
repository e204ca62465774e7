/**
 * The memory of a Python that has loaded all that each start loads, as a file: see docs/decisions/2026-11-28-python-snapshot.md. Most
 * of it are zeros, so the file has the other pages alone; that costs a fifth of the time of a decompression.
 *
 *     32 bytes  fingerprint of what it was made of
 *     4 bytes   length of the memory
 *     4 bytes   how many pages follow
 *     4 bytes   number of the page, for each of them
 *     the pages, one after the other; the last of the memory may be shorter
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { StartCommand } from './messages.js';
import { pythonFiles } from './python-files.js';

const fingerprintBytes = 32;
const headBytes = fingerprintBytes + 8;
const pageBytes = 4096;

/** A hash of Pyodide, the library and our Python files. Memory is full of addresses in all of these. */
export async function fingerprintOf({
  indexUrl,
  pythonUrl,
  stdlibUrl,
}: Pick<StartCommand, 'indexUrl' | 'pythonUrl' | 'stdlibUrl'>): Promise<Uint8Array> {
  const pyodide = ['pyodide.asm.mjs', 'pyodide.asm.wasm'].map((name) => new URL(name, indexUrl));
  const urls = [...pyodide, new URL(stdlibUrl ?? 'python_stdlib.zip', indexUrl), ...pythonFiles.map((path) => new URL(path, pythonUrl))];
  const hashes = await Promise.all(
    urls.map(async (url) =>
      createHash('sha256')
        .update(await readFile(url))
        .digest(),
    ),
  );
  return createHash('sha256').update(Buffer.concat(hashes)).digest();
}

export function packSnapshot(fingerprint: Uint8Array, memory: Uint8Array): Uint8Array {
  const zeros = new Uint8Array(pageBytes);
  const pages: [number, Uint8Array][] = [];
  for (let at = 0; at < memory.length; at += pageBytes) {
    const page = memory.subarray(at, at + pageBytes);
    if (Buffer.compare(page, zeros.subarray(0, page.length)) !== 0) pages.push([at / pageBytes, page]);
  }
  const indexBytes = 4 * pages.length;
  const file = new Uint8Array(headBytes + indexBytes + pages.reduce((sum, [, page]) => sum + page.length, 0));
  const numbers = new DataView(file.buffer);
  file.set(fingerprint);
  numbers.setUint32(fingerprintBytes, memory.length, true);
  numbers.setUint32(fingerprintBytes + 4, pages.length, true);
  let end = headBytes + indexBytes;
  for (const [order, [number, page]] of pages.entries()) {
    numbers.setUint32(headBytes + 4 * order, number, true);
    file.set(page, end);
    end += page.length;
  }
  return file;
}

/** Throws for a file that was made of something else, or is not whole. Shares nothing with `file`. */
export function unpackSnapshot(fingerprint: Uint8Array, file: Uint8Array): Uint8Array {
  if (!isMadeOf(fingerprint, file)) throw new Error('the snapshot was made of other files');
  const numbers = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = numbers.getUint32(fingerprintBytes, true);
  const count = numbers.getUint32(fingerprintBytes + 4, true);
  const memory = new Uint8Array(length);
  let end = headBytes + 4 * count;
  for (let order = 0; order < count; order++) {
    const at = numbers.getUint32(headBytes + 4 * order, true) * pageBytes;
    const size = Math.min(pageBytes, length - at);
    memory.set(file.subarray(end, end + size), at);
    end += size;
  }
  if (end !== file.length) throw new Error('the snapshot is not whole');
  return memory;
}

export function isMadeOf(fingerprint: Uint8Array, file: Uint8Array): boolean {
  return file.length >= headBytes && Buffer.compare(file.subarray(0, fingerprintBytes), fingerprint) === 0;
}
