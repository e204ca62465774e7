import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { errnoOf, ignore } from '@notebridge/kit/errno';
import { inRealFolder } from '@notebridge/kit/real-folder';

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
