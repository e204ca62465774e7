import { closeSync, constants, fchmodSync, ftruncateSync, lstatSync, openSync, rmSync, type Stats, writeSync } from 'node:fs';
import { join, parse } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { readPrivateFile } from './private-file.js';
import { systemFault } from './system-fault.js';

export interface GrowingFileOptions {
  /** Replaces a plain file, or a link, that is there. Default: what is there is left, and the file gets a number: `bug.2.jsonl`. */
  replace?: boolean | undefined;
  /**
   * Looks at the text of a file that is there and is the user's own alone: how many of its bytes stay, if it is to be gone on with;
   * undefined to leave it. Default: none is gone on with.
   */
  continueAt?: ((text: string) => number | undefined) | undefined;
  /** The user that runs this, where the system has numbers. */
  uid?: number | undefined;
}

/** More files of one name than anybody looks through. */
const maxNumber = 1000;

/** A file that a person has named, with mode 0600, that only grows: what a killed process leaves in it is whole up to its last line. */
export class GrowingFile {
  /** What it is called. */
  readonly path: string;
  #file: number | undefined;
  #size = 0;

  /** Throws `bad_usage` if what is there is not to be replaced, `write_failed` if it cannot be made. */
  constructor(path: string, { replace = false, continueAt, uid }: GrowingFileOptions = {}) {
    const size = continueAt && sizeToKeep(path, { continueAt, uid });
    if (size !== undefined) {
      this.path = path;
      this.#file = reopen(path, size);
      this.#size = size;
      return;
    }
    assertFile(path);
    if (replace) removeOld(path);
    for (let number = 1; ; number++) {
      const numbered = number === 1 ? path : withNumber(path, number);
      this.#file = tryCreate(numbered);
      this.path = numbered;
      if (this.#file !== undefined) return;
      if (number >= maxNumber)
        throw new BridgeError('bad_usage', `"${path}" and ${maxNumber} more of that name are there. Choose another name.`);
    }
  }

  /** Appends whole lines, or nothing. Throws `write_failed`. */
  append(lines: string): void {
    const file = this.#file;
    if (file === undefined) return;
    const bytes = Buffer.from(lines);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      this.#size += bytes.length;
    } catch (error) {
      cutBack(file, this.#size);
      throw systemFault(`Cannot write "${this.path}"`, this.path, error);
    }
  }

  /** Closing twice is harmless. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

const appending = constants.O_WRONLY | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);

function sizeToKeep(
  path: string,
  { continueAt, uid }: Pick<GrowingFileOptions, 'uid'> & { continueAt: (text: string) => number | undefined },
) {
  let text: string | undefined;
  try {
    text = readPrivateFile(path, { uid });
  } catch {
    // It is not the user's own alone, or too large.
  }
  return text === undefined ? undefined : continueAt(text);
}

function reopen(path: string, size: number): number {
  try {
    const file = openSync(path, appending);
    ftruncateSync(file, size);
    return file;
  } catch (error) {
    throw systemFault(`Cannot write "${path}"`, path, error);
  }
}

/** Undefined if something has that name. */
function tryCreate(path: string): number | undefined {
  try {
    const file = openSync(path, appending | constants.O_CREAT | constants.O_EXCL, 0o600);
    fchmodSync(file, 0o600);
    return file;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return undefined;
    throw systemFault(`Cannot make "${path}"`, path, error);
  }
}

function withNumber(path: string, number: number): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}.${number}${ext}`);
}

/** A half-written line is worth nothing to who reads the file. */
function cutBack(file: number, size: number): void {
  try {
    ftruncateSync(file, size);
  } catch {
    // It stays: who reads the file knows that its last line may be cut.
  }
}

/** A device or a folder is meant for something else. */
function assertFile(path: string): void {
  let found: Stats;
  try {
    found = lstatSync(path);
  } catch {
    // It is not there; or it cannot be made either, which says why.
    return;
  }
  if (!found.isFile() && !found.isSymbolicLink()) throw new BridgeError('bad_usage', `"${path}" is no file. Choose a name for a new one.`);
}

function removeOld(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw systemFault(`Cannot replace "${path}"`, path, error);
  }
}
