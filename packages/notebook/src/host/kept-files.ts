import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ignore, ignoreMissing } from '@notebridge/kit/errno';

/** The one that was written longest ago is forgotten first. */
const maxNotebooks = 1000;

/** Keeps a value of each notebook in a file of its own: processes that open different notebooks never write the same one. */
export function keptByNotebook(folder: string) {
  const fileOf = (notebook: string) => join(folder, `${createHash('sha256').update(notebook).digest('hex').slice(0, 32)}.json`);
  return {
    read: (notebook: string): Promise<unknown> => readKept(fileOf(notebook)),
    async write(notebook: string, value: unknown): Promise<void> {
      await writeKept(fileOf(notebook), value);
      await forgetOldest(folder);
    },
  };
}

/** Undefined where there is none, or none that can be read. */
export async function readKept(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Replaces it as a whole; it (0600) and its folder (0700) are the user's own. */
export async function writeKept(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}-${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(temporary, `${JSON.stringify(value)}\n`, { flag: 'wx', mode: 0o600 });
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function forgetOldest(folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.length <= maxNotebooks) return;
  const times = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(ignore))?.mtimeMs ?? 0 })));
  const oldest = times.sort((a, b) => a.at - b.at).slice(0, names.length - maxNotebooks);
  await Promise.all(oldest.map(({ name }) => rm(join(folder, name), { force: true })));
}
