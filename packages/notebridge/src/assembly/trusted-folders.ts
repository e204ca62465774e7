import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { FolderTrust, WrittenFolders } from '@notebridge/notebook/host';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { withFileLock } from '@notebridge/system/files/file-lock';
import {
  type FolderRecord,
  type FolderWriter,
  folderRecordFile,
  readFolderRecord,
  toKnownFolders,
} from '@notebridge/system/files/folder-record';
import { ensurePrivateDir, type PrivacyRules } from '@notebridge/system/files/private-file';
import { folderIdentityOf, type KnownFolder } from '@notebridge/system/starts/find-written';

export interface TrustedFolders extends FolderTrust {
  readonly folders: readonly string[];
}

/**
 * The folders whose own Python the person has allowed to run: a file in the state folder that only the user can read, by real path, so
 * that no link leads to another folder. Looked at anew each time: all processes of the user share it. `has` is false where the file is
 * not private or cannot be read; `add` and `remove` reject with `write_failed` then.
 */
export function createTrustedFolders(stateDir: string, rules: PrivacyRules): TrustedFolders {
  const change = (edit: (folders: readonly string[]) => readonly string[]): Promise<void> =>
    changeRecord(stateDir, rules, (record) => ({ ...record, trusted: edit(record.trusted) }));
  return {
    get folders() {
      return readFolderRecord(stateDir, rules).trusted;
    },
    has(folder) {
      try {
        return readFolderRecord(stateDir, rules).trusted.includes(realPath(folder));
      } catch {
        return false;
      }
    },
    add: (folder) => change((folders) => [...folders, realPath(folder)]),
    remove: (folder) => change((folders) => without(folders, folder)),
  };
}

/** This process, and how one is told from another of its number. */
export interface ProcessNames {
  readonly own: number;
  /** When it began; undefined: there is none. */
  startOf(pid: number): string | undefined;
}

/**
 * The folders that code in a sandbox was given to write to, in the same file; `folders`: their paths, for a person. All reject, or throw, with `write_failed`; `remove` with
 * `denied` while a kernel may still write there.
 */
export function createWrittenFolders(
  stateDir: string,
  rules: PrivacyRules,
  { own, startOf }: ProcessNames,
): WrittenFolders & { readonly folders: readonly string[]; remove(folder: string): Promise<void> } {
  const change = (edit: (record: FolderRecord) => Partial<FolderRecord>): Promise<void> =>
    changeRecord(stateDir, rules, (record) => ({ ...record, ...edit(record) }));
  const living = (writers: readonly FolderWriter[]) => writers.filter(({ pid, start }) => start === (startOf(pid) ?? 'ended'));
  return {
    get folders() {
      return readFolderRecord(stateDir, rules).written;
    },
    get known() {
      return toKnownFolders(readFolderRecord(stateDir, rules));
    },
    async add(folder) {
      const path = realPath(folder);
      const { written, identities } = readFolderRecord(stateDir, rules);
      const identity = folderIdentityOf(path);
      const isKnown = written.includes(path) && (identity === undefined || identities.some((each) => isSame(each, { path, identity })));
      if (!isKnown) await change((record) => withFolder(record, path));
    },
    async hold(folder, notebook) {
      const me = { folder: realPath(folder), notebook, pid: own, start: startOf(own) ?? '', nonce: randomUUID() };
      await change((record) => ({ ...withFolder(record, me.folder), writers: [...living(record.writers), me] }));
      // Where the system does not say when a process began, it may have been taken back meanwhile; this kernel has written since.
      return () =>
        change((record) => ({
          ...withFolder(record, me.folder),
          writers: living(record.writers).filter(({ nonce }) => nonce !== me.nonce),
        }));
    },
    remove: (folder) =>
      change(({ written, identities, writers }) => {
        const identity = folderIdentityOf(folder);
        const renamed = identities.filter((each) => each.identity === identity).map(({ path }) => path);
        const left = [folder, ...renamed].reduce(without, written);
        const writer = living(writers).find((each) => written.includes(each.folder) && !left.includes(each.folder));
        if (writer !== undefined) throw isWrittenTo(writer);
        return { written: left, identities: identities.filter(({ path }) => left.includes(path)) };
      }),
  };
}

function withFolder({ written, identities }: FolderRecord, path: string): Pick<FolderRecord, 'written' | 'identities'> {
  const identity = folderIdentityOf(path);
  const known = identity === undefined ? undefined : { path, identity };
  const others = identities.filter((each) => known === undefined || !isSame(each, known));
  return { written: [...written, path], identities: known === undefined ? others : [...others, known] };
}

function isSame(one: KnownFolder, other: KnownFolder): boolean {
  return one.path === other.path && one.identity === other.identity;
}

function isWrittenTo({ folder, notebook, pid }: FolderWriter): BridgeError {
  const end = `notebridge stop ${quote(notebook)}`;
  return new BridgeError(
    'denied',
    `${quote(folder)} is not taken back: a kernel may still write there, of ${quote(notebook)} (process ${pid}). Look at the notebook, and end it first: ${end}`,
  );
}

async function changeRecord(stateDir: string, rules: PrivacyRules, edit: (record: FolderRecord) => FolderRecord): Promise<void> {
  const path = folderRecordFile(stateDir);
  ensurePrivateDir(stateDir, rules);
  await withFileLock(`${path}.lock`, async () => {
    const { trusted, written, identities, writers } = edit(readFolderRecord(stateDir, rules));
    const toList = (folders: readonly string[]): string[] => [...new Set(folders)].sort();
    const others = Object.fromEntries(Object.entries({ identities, writers }).filter(([, list]) => list.length > 0));
    const text = JSON.stringify({ folders: toList(trusted), written: toList(written), ...others }, undefined, 2);
    await writeFileAtomic(path, `${text}\n`, { mode: 0o600, anew: true });
  });
}

function without(folders: readonly string[], folder: string): readonly string[] {
  return folders.filter((each) => each !== folder && each !== realPath(folder));
}

/** A folder that is gone has the path that was given. */
function realPath(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}
