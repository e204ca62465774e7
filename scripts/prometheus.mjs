// Prometheus and its tool, for tests: those of the PATH, or Debian's package, unpacked into node_modules/.cache and not installed: no service
// of the machine changes.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules/.cache/notebridge');
const folder = join(cache, 'prometheus');
const timeout = 5 * 60_000;

/**
 * Where the two programs are; undefined where there are none and no Debian package can be had.
 * @returns {Promise<{ prometheus: string, promtool: string } | undefined>}
 */
export async function findPrometheus() {
  const ofPath = (process.env.PATH ?? '').split(delimiter).find((place) => existsSync(join(place, 'promtool')));
  if (ofPath !== undefined && existsSync(join(ofPath, 'prometheus'))) return programsIn(ofPath);
  const bin = join(folder, 'usr/bin');
  if (existsSync(bin) || (existsSync('/etc/debian_version') && (await unpack()))) return programsIn(bin);
  return undefined;
}

/** @param {string} place */
function programsIn(place) {
  return { prometheus: join(place, 'prometheus'), promtool: join(place, 'promtool') };
}

async function unpack() {
  // Made aside: what a run that was ended has left half done is never used.
  const making = `${folder}-${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    await download(making);
    const [file = ''] = readdirSync(making).filter((name) => name.endsWith('.deb'));
    await run('dpkg', ['-x', join(making, file), join(making, 'unpacked')], { timeout });
    if (!existsSync(folder)) renameSync(join(making, 'unpacked'), folder);
    return true;
  } catch {
    // Another test file may have had it meanwhile.
    return existsSync(folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** @param {string} cwd */
async function download(cwd) {
  const get = () => run('apt-get', ['download', 'prometheus'], { cwd, timeout });
  await get().catch(async (error) => {
    // A fresh machine may know no package yet.
    if (process.getuid?.() !== 0) throw error;
    await run('apt-get', ['update'], { timeout });
    await get();
  });
}
