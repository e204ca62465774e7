// What tests need and is not in the checkout, in .cache: made once, whatever ends or runs beside it.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), '.cache');

/**
 * The path of a folder of the cache that is there as a whole or not at all. Throws what `make` throws.
 * @param {string} name With the version in it: what is there is never made again.
 * @param {(making: string) => Promise<string>} make Fills the folder `making`, and answers with what of it is wanted.
 * @param {string} [place] Another folder than the cache.
 * @returns {Promise<string>}
 */
export async function madeOnce(name, make, place = cache) {
  const folder = join(place, name);
  if (existsSync(folder)) return folder;
  mkdirSync(place, { recursive: true });
  removeAbandoned(name, place);
  // Made aside: what a run that was ended has left half done is never used.
  const making = mkdtempSync(`${folder}.${process.pid}.`);
  try {
    const made = await make(making);
    putInPlace(made, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

/** Another process may have made it meanwhile, and be at work with it: then that one stays. @param {string} made @param {string} folder */
function putInPlace(made, folder) {
  try {
    renameSync(made, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

/** A run that was killed could not remove its own. @param {string} name @param {string} place */
function removeAbandoned(name, place) {
  for (const other of readdirSync(place)) {
    const pid = other.startsWith(`${name}.`) ? Number.parseInt(other.slice(name.length + 1), 10) : 0;
    if (pid > 0 && !isAlive(pid)) rmSync(join(place, other), { recursive: true, force: true });
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is another user's.
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
