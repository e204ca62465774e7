import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignore, ignoreMissing } from '@notebridge/kit/errno';
import type { KnownCell } from '../model/cell-ids.js';

/** The ids of the cells of notebooks whose files have none, so that they are the same after a restart. */
export interface KeptCellIds {
  /** Undefined for a notebook of which nothing is kept. */
  read(notebook: string): Promise<readonly KnownCell[] | undefined>;
  write(notebook: string, cells: readonly KnownCell[]): Promise<void>;
}

/** The one that was written longest ago is forgotten first. */
const maxNotebooks = 1000;

/** Keeps them in a folder of the user's own (0700), one file for each notebook. One that cannot be read keeps nothing. */
export function cellIdsIn(folder: string): KeptCellIds {
  const placeOf = (notebook: string) => join(folder, `${createHash('sha256').update(notebook).digest('hex').slice(0, 32)}.json`);
  return {
    read: async (notebook) => {
      const text = await readFile(placeOf(notebook), 'utf8').catch(ignoreMissing);
      return text === undefined ? undefined : asKnown(text);
    },
    async write(notebook, cells) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const place = placeOf(notebook);
      const temporary = `${place}-${randomBytes(6).toString('hex')}`;
      try {
        await writeFile(temporary, JSON.stringify(cells.map(({ id, rev }) => [id, rev])), { flag: 'wx', mode: 0o600 });
        await rename(temporary, place);
      } finally {
        await rm(temporary, { force: true });
      }
      await forgetOldest(folder);
    },
  };
}

async function forgetOldest(folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.length <= maxNotebooks) return;
  const times = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(ignore))?.mtimeMs ?? 0 })));
  const oldest = times.sort((a, b) => a.at - b.at).slice(0, names.length - maxNotebooks);
  await Promise.all(oldest.map(({ name }) => rm(join(folder, name), { force: true })));
}

function asKnown(text: string): KnownCell[] | undefined {
  try {
    const found: unknown = JSON.parse(text);
    const isPair = (entry: unknown) => Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number';
    return Array.isArray(found) && found.every(isPair) ? found.map(([id, rev]) => ({ id, rev })) : undefined;
  } catch {
    return undefined;
  }
}
