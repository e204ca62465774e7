import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { errnoOf, ignore } from '@notebridge/kit/errno';
import { inRealFolder } from '@notebridge/kit/real-folder';
import { ownTemporaryFolder } from '@notebridge/kit/temporary-folder';
import { writtenFolderOf } from '../sandbox/written-folders.js';

/**
 * Puts a notebook that cannot be saved into a new file: beside its own, else into a folder for temporary files that only this
 * user can read. Returns the path; undefined if neither can be written.
 */
export async function rescue(path: string, content: Uint8Array): Promise<string | undefined> {
  const extension = extname(path);
  const time = new Date().toISOString().replace(/[:.]/g, '-');
  const name = `${basename(path, extension)}.unsaved-${time}${extension}`;
  for (const findFolder of [async () => dirname(path), makeTemporary]) {
    const folder = await findFolder().catch(ignore);
    if (folder === undefined) continue;
    const isRescued = await inRealFolder(folder, (place) => write(join(place, name), content)).then(() => true, ignore);
    if (isRescued) return join(folder, name);
  }
  return undefined;
}

async function makeTemporary(): Promise<string> {
  return mkdtemp(join(await realpath(ownTemporaryFolder(writtenFolderOf)), 'notebridge-'));
}

async function write(path: string, content: Uint8Array): Promise<void> {
  try {
    await writeFile(path, content, { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    // Half a notebook is of no use to anybody.
    if (errnoOf(error) !== 'EEXIST') await rm(path, { force: true });
    throw error;
  }
}
