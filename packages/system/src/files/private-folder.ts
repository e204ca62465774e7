import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { writeNewFile } from './atomic-file.js';
import type { FileTree } from './file-tree.js';
import { removeTree } from './remove-tree.js';
import { syncFolder } from './replace-file.js';
import { systemFault } from './system-fault.js';

const temporaryName = /^\.notebridge-[0-9a-f]{16}\.tmp$/;
/** What a process that was killed has left is no other's any more after so long. Milliseconds. */
const abandonedMs = 60_000;

/**
 * Makes a folder with these files, 0700 and 0600: it is complete before it has its name, also after a power cut. The folder around it must
 * exist and be private. One that stands there already is left as it is.
 *
 * @throws BridgeError `write_failed`; nothing is left behind.
 */
export async function createPrivateFolder(path: string, files: FileTree): Promise<void> {
  const temporary = join(dirname(path), `.notebridge-${randomBytes(8).toString('hex')}.tmp`);
  try {
    await mkdir(temporary, { mode: 0o700 });
    for (const [name, text] of files) {
      const file = join(temporary, name);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeNewFile(file, text, { mode: 0o600 });
    }
    await rename(temporary, path).catch((error: unknown) => {
      if (!['EEXIST', 'ENOTEMPTY'].includes(errnoOf(error) ?? '')) throw error;
    });
    await syncFolder(dirname(path));
  } catch (error) {
    throw systemFault(`Cannot write "${path}"`, path, error);
  } finally {
    await removeTree(temporary).catch(() => {});
  }
}

/** Removes folders inside that are none of `kept`, those of processes that were killed while they wrote included. Never rejects. */
export async function keepPrivateFolders(parent: string, kept: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (kept.has(name)) continue;
    const path = join(parent, name);
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined || (temporaryName.test(name) && Date.now() - found.mtimeMs < abandonedMs)) continue;
    await removeTree(path).catch(() => {});
  }
}
