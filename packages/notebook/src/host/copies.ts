import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { errnoOf, ignore } from '@notebridge/protocol/util/errno';
import { writtenFolderOf } from '@notebridge/sandbox/written-folders';
import { inRealFolder } from '@notebridge/system/files/real-folder';
import { ownTemporaryFolder } from '@notebridge/system/files/temporary-folder';

const maxCopies = 100;

/** The name of a copy of an older version, as Jupyter gives it: `NAME.v3.ipynb`; where that is taken, with a number. */
export function oldCopyName(path: string, nbformat: number, number = 0): string {
  const extension = extname(path);
  return `${basename(path, extension)}.v${nbformat}${number === 0 ? '' : `-${number}`}${extension}`;
}

/** Keeps a file of an older nbformat beside the notebook, before it is written as one of 4. Never replaces anything. */
export async function keepOldCopy(path: string, nbformat: number, bytes: Uint8Array): Promise<void> {
  await inRealFolder(dirname(path), async (place) => {
    for (let number = 0; number < maxCopies; number++) {
      if (await isKept(join(place, oldCopyName(path, nbformat, number)), bytes)) return;
    }
    throw new Error(`${maxCopies} copies of older versions are there already`);
  });
}

async function isKept(path: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await writeFile(path, bytes, { flag: 'wx', flush: true });
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    const there = await readFile(path).catch(ignore);
    return there !== undefined && Buffer.compare(there, bytes) === 0;
  }
}

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
