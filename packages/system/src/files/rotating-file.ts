import { closeSync, constants, fstatSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs';
import { tryFileLock } from './file-lock.js';

export interface RotatingFileOptions {
  path: string;
  /** When the file has grown past this, it becomes `<path>.1`. Default 10 MiB. */
  maxBytes?: number;
  /** Full files that are kept: `<path>.1` is the newest. Default 5. */
  keep?: number;
}

/** Another process may have rotated; checked this often, milliseconds. */
const lookEveryMs = 500;
const newline = 0x0a;

/**
 * A file of lines that is only ever appended to, 0600. Several processes may append to one: each write is one system call of whole
 * lines at the end of the file, and one of them rotates, under a lock file; the others notice within half a second, and what they
 * write until then stands in `<path>.1`.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #keep: number;
  #file: number | undefined;
  #inode = 0;
  #size = 0;
  #isTorn = false;
  #lookedAt = 0;

  /** Throws the system's error if the file cannot be opened. */
  constructor({ path, maxBytes = 10 * 1024 * 1024, keep = 5 }: RotatingFileOptions) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#keep = keep;
    this.#open();
  }

  /** Appends lines, each with its newline. Throws the system's error; some of them may be in the file then. */
  append(lines: string): void {
    const file = this.#follow();
    // What a crash or a full disk cut off stays a line of its own.
    const bytes = Buffer.from(this.#isTorn ? `\n${lines}` : lines);
    for (let at = 0; at < bytes.length; ) {
      const written = writeSync(file, bytes, at);
      at += written;
      this.#size += written;
      this.#isTorn = bytes[at - 1] !== newline;
    }
  }

  /** Closing twice is harmless. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #open(): number {
    const file = openSync(this.#path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
    this.close();
    this.#file = file;
    const { ino, size } = fstatSync(file);
    this.#inode = ino;
    this.#size = size;
    this.#isTorn = size > 0 && lastByte(file, size) !== newline;
    this.#lookedAt = performance.now();
    return file;
  }

  /** The file to append to: the same as before, or the new one if it was rotated, by us or by another process. */
  #follow(): number {
    const file = this.#file ?? this.#open();
    const isFull = this.#size > this.#maxBytes;
    if (!isFull && performance.now() - this.#lookedAt < lookEveryMs) return file;
    this.#lookedAt = performance.now();
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (found?.ino !== this.#inode) return this.#open();
    // Others append too.
    this.#size = found.size;
    return this.#size > this.#maxBytes && this.#rotate() ? this.#open() : file;
  }

  #rotate(): boolean {
    const lock = tryFileLock(`${this.#path}.lock`);
    if (lock === undefined) return false;
    try {
      if (statSync(this.#path, { throwIfNoEntry: false })?.ino !== this.#inode) return true;
      for (let number = this.#keep; number > 1; number--) moveIfThere(`${this.#path}.${number - 1}`, `${this.#path}.${number}`);
      moveIfThere(this.#path, `${this.#path}.1`);
      return true;
    } finally {
      lock.release();
    }
  }
}

function lastByte(file: number, size: number): number | undefined {
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, size - 1);
  return byte[0];
}

function moveIfThere(from: string, to: string): void {
  if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, to);
}
