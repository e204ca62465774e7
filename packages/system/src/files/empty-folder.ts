import { chmodSync, mkdirSync } from 'node:fs';
import { join, parse } from 'node:path';
import { ensurePrivateDir, type PrivacyRules } from './private-file.js';

/**
 * A folder of ours that has nothing in it and takes nothing (but from root): where programs begin that have no other place, so that none takes
 * settings from wherever we were started. Where none can be made, as on a disk that is read alone: the root folder.
 */
export function emptyFolderIn(stateDir: string, rules: PrivacyRules): string {
  const path = join(stateDir, 'empty');
  try {
    ensurePrivateDir(stateDir, rules);
    mkdirSync(path, { recursive: true, mode: 0o500 });
    chmodSync(path, 0o500);
    return path;
  } catch {
    return parse(path).root;
  }
}
