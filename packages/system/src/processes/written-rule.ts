import { delimiter, isAbsolute, sep } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import { createWrittenFinder, type KnownFolder } from '../starts/find-written.js';
import { shellWord } from '../starts/shell-word.js';

const records = new Map<string, () => readonly (string | KnownFolder)[]>();

/**
 * From now on this process runs, imports and takes as configuration nothing below the folders of this record: code in a sandbox was ever given
 * to write there. `read` is asked each time, and throws where it cannot be known; `stateDir` is where it reads.
 */
export function heedWritten(stateDir: string, read: () => readonly (string | KnownFolder)[]): void {
  records.set(stateDir, read);
}

/** The rule. The folder, if code in a sandbox decides what stands at `path`; undefined: it may be run, imported, believed. */
export function writtenBy(path: string): string | undefined {
  return lookForWritten()?.(path);
}

/** As `writtenBy`, for many paths of one moment. Undefined: code was given no folder, so there is nothing to ask. */
export function lookForWritten(): ((path: string) => string | undefined) | undefined {
  const folders = readRecords();
  return folders.length === 0 ? undefined : createWrittenFinder(folders);
}

/** The paths of all folders that code was given. */
export function foldersWritten(): string[] {
  return readRecords().map((folder) => (typeof folder === 'string' ? folder : folder.path));
}

/**
 * For what is written or removed by its path: where code could put a link in its way that would be done elsewhere. `what`: what is kept there.
 *
 * @throws BridgeError `bad_usage`.
 */
export function assertKeptOutside(path: string, what: string): void {
  const folder = writtenBy(path);
  if (folder === undefined) return;
  const why = `cannot be ${quote(path)}: code in a sandbox may write to ${quote(folder)}, and could have it lead elsewhere.`;
  throw new BridgeError('bad_usage', `${what} ${why} ${adviceOnWritten(folder)}`, { data: { path, folder } });
}

/** A list of folders in which programs are looked for, without those where code could put one. `cwd`: what relative ones are of. */
export function searchPathOutside(path: string, cwd: string = process.cwd()): string {
  const look = lookForWritten();
  if (look === undefined) return path;
  return path
    .split(delimiter)
    .filter((entry) => look(isAbsolute(entry) ? entry : `${cwd}${sep}${entry}`) === undefined)
    .join(delimiter);
}

function readRecords(): (string | KnownFolder)[] {
  return [...records.values()].flatMap((read) => read());
}

/** The end of a refusal: it says what to do about a folder that code may write to. */
export function adviceOnWritten(folder: string): string {
  return `Keep it outside of that folder. Or, if you trust what stands there now: notebridge grants files --withdraw ${shellWord(folder)}`;
}
