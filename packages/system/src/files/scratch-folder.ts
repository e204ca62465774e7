import { randomBytes } from 'node:crypto';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrivacyRules } from './private-file.js';
import { isAbandoned, type Processes } from './published-leftovers.js';
import { systemFault } from './system-fault.js';

/** A folder in the system's one for temporary files that no other user can read, under an unguessable name. */
export interface ScratchFolder {
  path: string;
  /** Removes it with what is in it. Never rejects: what cannot be removed is left to the system. */
  remove(): Promise<void>;
}

/** Distinguishes the folders of this process from those of an earlier one with its number, as every hub in a container has. */
const ownMark = randomBytes(4).toString('hex');
let sweeping: Promise<void> | undefined;

/** The first call removes what processes of ours that were killed have left. Rejects with `write_failed`. */
export async function makeScratchFolder(processes: Processes, rules: PrivacyRules): Promise<ScratchFolder> {
  sweeping ??= sweepScratchFolders(processes, rules);
  await sweeping;
  const parent = tmpdir();
  try {
    const path = await mkdtemp(join(parent, `notebridge-scratch-${processes.own}-${ownMark}-`));
    return { path, remove: () => rm(path, { recursive: true, force: true }).catch(() => {}) };
  } catch (error) {
    throw systemFault(`Cannot make a folder in "${parent}"`, parent, error);
  }
}

/** Removes the folders of processes that are gone. Never rejects. */
export async function sweepScratchFolders(processes: Processes, rules: PrivacyRules): Promise<void> {
  const parent = tmpdir();
  for (const name of await readdir(parent).catch(() => [])) {
    const [, pid, mark] = /^notebridge-scratch-(\d+)-([0-9a-f]{8})-\w{6}$/.exec(name) ?? [];
    if (pid === undefined || !isAbandoned({ pid: Number(pid), isOwn: mark === ownMark }, processes)) continue;
    const path = join(parent, name);
    if (await isPrivate(path, rules)) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/** Others may make folders there too, under any name. What they can change while it is removed would have us remove something else. */
async function isPrivate(path: string, { uid }: PrivacyRules): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() === true && (found.mode & 0o077) === 0 && (uid === undefined || found.uid === uid);
}
