import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateDir, type PrivacyRules } from './private-file.js';
import { systemFault } from './system-fault.js';

/**
 * A folder of ours that has nothing in it and takes nothing (but from root): where programs begin that have no other place, so that none takes
 * settings from wherever we were started. Throws `write_failed`.
 */
export function ensureEmptyFolder(stateDir: string, rules: PrivacyRules): string {
  const path = join(stateDir, 'empty');
  ensurePrivateDir(stateDir, rules);
  try {
    mkdirSync(path, { recursive: true, mode: 0o500 });
    chmodSync(path, 0o500);
    return path;
  } catch (error) {
    throw systemFault(`Cannot make the folder "${path}"`, path, error);
  }
}
