import { randomBytes } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { failOutside, openInside, type WrittenBy } from './folder-inside.js';

/**
 * Writes a file that the person has named. `writtenBy`: says in which folder it lies, if code may write there. In such a folder no link says
 * where it goes: what is written stays inside, also while code replaces what is on the way, and a link in its place is replaced. Rejects with
 * the system's error, or one that says that it would go elsewhere.
 */
export async function writeOutput(path: string, content: string | Uint8Array, writtenBy: WrittenBy): Promise<void> {
  const whole = resolve(path);
  const folder = writtenBy(whole);
  if (folder === undefined) return writeFile(whole, content);
  const inside = await openInside(dirname(whole), folder);
  const written = await inside.withLocation((location): { error?: unknown } => {
    try {
      replaceFile(location, basename(whole), content);
      return {};
    } catch (error) {
      return { error };
    }
  });
  if (written?.error !== undefined) throw written.error;
  if (written === undefined) failOutside(folder);
}

/** The new file is whole before it has its name. */
function replaceFile(folder: string, name: string, content: string | Uint8Array): void {
  const temporary = join(folder, `.notebridge-${randomBytes(8).toString('hex')}.tmp`);
  try {
    const file = openSync(temporary, 'wx', 0o666);
    try {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, join(folder, name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
