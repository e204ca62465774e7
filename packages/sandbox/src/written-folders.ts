import { realpathSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { type CodeStart, findCodePlaces, findInheritedPlaces } from '@notebridge/system/starts/code-places';
import { findWritten, folderIdentityOf, isWithin, type KnownFolder } from '@notebridge/system/starts/find-written';
import { findImportPlaces } from '@notebridge/system/starts/import-places';
import { realPathOf } from '@notebridge/system/starts/seen-files';

/** The folders that code in a sandbox was ever given to write to, until a person withdraws them. */
export interface WrittenFolders {
  /** Looked at anew each time: other processes of the user write to it. Throws where it cannot be known. */
  readonly known: readonly KnownFolder[];
  /** Rejects with what kept it from being written. */
  add(folder: string): Promise<void>;
  /** As `add`, and while this process lives and has not called what it resolves with, nobody takes the folder back. `notebook`: for whoever tries. */
  hold(folder: string, notebook: string): Promise<() => Promise<void>>;
}

const records = new Set<WrittenFolders>();
/** Where nobody keeps a record: as long as this process lives. */
const unkept = new Map<string, KnownFolder>();

/**
 * From now on this process keeps its record there, and runs, imports and takes as configuration nothing of the folders in it. It is one rule for
 * the whole process, since what it keeps apart is one user's.
 */
export function heedWrittenFolders(record: WrittenFolders): void {
  records.add(record);
}

/** Before a kernel may write there. */
export async function recordWritten(folder: string): Promise<void> {
  const path = realpathSync.native(folder);
  if (records.size === 0) unkept.set(path, { path, identity: folderIdentityOf(path) });
  await Promise.all([...records].map((record) => record.add(path)));
}

/** While a kernel may write there. Call what it resolves with at the kernel's end: it never rejects. */
export async function holdWritten(folder: string, notebook: string): Promise<() => Promise<void>> {
  const path = realpathSync.native(folder);
  const releases = await Promise.all([...records].map((record) => record.hold(path, resolve(notebook))));
  return async () => void (await Promise.allSettled(releases.map((release) => release())));
}

/** The rule: what has such a folder is run in a sandbox alone, and what it says of itself is data. Undefined: this process may run and believe it. */
export function writtenFolderOf(path: string): string | undefined {
  return findWritten(path, knownFolders());
}

/** As `writtenFolderOf`, of all that a start runs, as far as its words and variables name it. */
export function writtenFolderOfStart(start: CodeStart): string | undefined {
  const programs = (start.env.PATH ?? '').split(delimiter).filter(Boolean);
  const given = knownFolders().map(({ path }) => path);
  return firstWritten([...findCodePlaces({ ...start, given }), ...programs]);
}

/** As `writtenFolderOf`, of what a kernel that starts there takes from the variables that it inherits, and from IPython's own folder. */
export function writtenFolderInherited(env: Readonly<Record<string, string | undefined>>, cwd: string): string | undefined {
  return firstWritten(findInheritedPlaces(env, cwd));
}

function knownFolders(): KnownFolder[] {
  return [...unkept.values(), ...[...records].flatMap(({ known }) => known)];
}

function firstWritten(paths: readonly string[]): string | undefined {
  for (const path of new Set(paths)) {
    const folder = writtenFolderOf(path);
    if (folder !== undefined) return folder;
  }
  return undefined;
}

/** By a link that code may have put there: what it leads to is shown to no kernel on its account. */
export function leadsOutOfWritten(path: string): boolean {
  const folder = writtenFolderOf(path);
  if (folder === undefined) return false;
  const real = realPathOf(path);
  return real === undefined || !isWithin(real, folder);
}

/** For a program outside of the sandbox: what it starts by name in turn is not found there either. */
export function environmentOutside(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.PATH === undefined) return env;
  const entries = env.PATH.split(delimiter);
  return { ...env, PATH: entries.filter((entry) => writtenFolderOf(entry) === undefined).join(delimiter) };
}

/** As `writtenFolderOf`, of where a Python outside takes modules from as it starts. It would run a `sitecustomize` from there. */
export function writtenFolderOfImports(python: string): string | undefined {
  for (const path of findImportPlaces(python)) {
    const written = writtenFolderOf(path);
    if (written !== undefined) return written;
  }
  return undefined;
}
