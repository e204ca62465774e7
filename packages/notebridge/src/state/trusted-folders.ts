import { realpathSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { isJsonObject } from '@notebridge/kit/json';
import type { FolderTrust } from '@notebridge/notebook/host';
import { BridgeError } from '../core/errors.js';
import { tryJson } from '../util/try-json.js';
import { writeFileAtomic } from './atomic-file.js';
import { withFileLock } from './file-lock.js';
import { ensurePrivateDir, type PrivacyRules, readPrivateFile } from './private-file.js';

export interface TrustedFolders extends FolderTrust {
  readonly folders: readonly string[];
}

/**
 * The folders whose own Python the person has allowed to run: a file in the state folder that only the user can read, by real path, so
 * that no link leads to another folder. Looked at anew each time: all processes of the user share it. `has` is false where the file is
 * not private or cannot be read; `add` and `remove` reject with `write_failed` then.
 */
export function createTrustedFolders(stateDir: string, rules: PrivacyRules): TrustedFolders {
  const path = join(stateDir, 'trusted-folders.json');
  const change = async (edit: (folders: readonly string[]) => readonly string[]): Promise<void> => {
    ensurePrivateDir(stateDir, rules);
    await withFileLock(`${path}.lock`, async () => {
      const next = [...new Set(edit(read(path, rules)))].sort();
      await writeFileAtomic(path, `${JSON.stringify({ folders: next }, undefined, 2)}\n`, { mode: 0o600, anew: true });
    });
  };
  return {
    get folders() {
      return read(path, rules);
    },
    has(folder) {
      try {
        return read(path, rules).includes(realPath(folder));
      } catch {
        return false;
      }
    },
    add: (folder) => change((folders) => [...folders, realPath(folder)]),
    remove: (folder) => change((folders) => folders.filter((each) => each !== folder && each !== realPath(folder))),
  };
}

function read(path: string, rules: PrivacyRules): readonly string[] {
  const text = readPrivateFile(path, rules);
  if (text === undefined) return [];
  const found = tryJson(text);
  const folders = isJsonObject(found) ? found.folders : undefined;
  if (Array.isArray(folders) && folders.every((folder) => typeof folder === 'string' && isAbsolute(folder))) return folders;
  throw new BridgeError('write_failed', `"${path}" is no list of trusted folders. Look at what is in it, and move it away.`, {
    data: { path, reason: 'not_readable' },
  });
}

/** A folder that is gone has the path that was given. */
function realPath(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}
