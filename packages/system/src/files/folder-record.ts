import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject } from '@notebridge/protocol/json';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { isWithin, type KnownFolder } from '../starts/find-written.js';
import { type PrivacyRules, readPrivateFile } from './private-file.js';

/** The decisions of a person on folders: lists of their real paths, sorted. */
export interface FolderRecord {
  /** Their own Python may run. */
  readonly trusted: readonly string[];
  /** Code in a sandbox was ever given to write there. */
  readonly written: readonly string[];
  /** What tells those again that were renamed since; of one path several, where others stood there later. */
  readonly identities: readonly KnownFolder[];
  /** Kernels that may write there now, or until their program was killed. */
  readonly writers: readonly FolderWriter[];
}

export interface FolderWriter {
  readonly folder: string;
  readonly notebook: string;
  /** The process that has the kernel, and when that began: numbers are used again. */
  readonly pid: number;
  readonly start: string;
  readonly nonce: string;
}

/** The file in the state folder, which only the user can read. */
export function folderRecordFile(stateDir: string): string {
  return join(stateDir, 'trusted-folders.json');
}

/** Throws `write_failed` where it is not private, or cannot be read: then nothing is known of any folder. */
export function readFolderRecord(stateDir: string, rules: PrivacyRules): FolderRecord {
  const path = folderRecordFile(stateDir);
  const text = readPrivateFile(path, rules);
  if (text === undefined) return { trusted: [], written: [], identities: [], writers: [] };
  const found = tryJson(text);
  const { folders, written = maybeWritten(folders), identities = [], writers = [] } = isJsonObject(found) ? found : {};
  if (areFolders(folders) && areFolders(written) && areIdentities(identities) && areWriters(writers))
    return { trusted: folders, written, identities, writers };
  throw new BridgeError('write_failed', `"${path}" is no list of trusted folders. Look at what is in it, and move it away.`, {
    data: { path, reason: 'not_readable' },
  });
}

/** Versions that kept no such list let code write to trusted folders, but never to the home folder and what is above it. */
function maybeWritten(folders: unknown): unknown {
  return areFolders(folders) ? folders.filter((folder) => !isWithin(homedir(), folder)) : folders;
}

function areFolders(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((folder) => typeof folder === 'string' && isAbsolute(folder));
}

function areIdentities(value: unknown): value is readonly KnownFolder[] {
  const isKnown = (each: unknown) => isJsonObject(each) && typeof each.path === 'string' && typeof each.identity === 'string';
  return Array.isArray(value) && value.every(isKnown);
}

function areWriters(value: unknown): value is readonly FolderWriter[] {
  const names = ['folder', 'notebook', 'start', 'nonce'];
  const isWriter = (each: unknown) => isJsonObject(each) && Number(each.pid) > 0 && names.every((name) => typeof each[name] === 'string');
  return Array.isArray(value) && value.every(isWriter);
}

/** The folders that code in a sandbox was ever given to write to: nothing there is run, imported or taken as configuration. Throws as `readFolderRecord`. */
export function readWrittenFolders(stateDir: string, rules: PrivacyRules): readonly KnownFolder[] {
  return toKnownFolders(readFolderRecord(stateDir, rules));
}

export function toKnownFolders({ written, identities }: FolderRecord): readonly KnownFolder[] {
  return [...written.map((path) => ({ path })), ...identities];
}
