// Prometheus and its tool, for tests: those of the PATH, or Debian's package, unpacked into .cache and not installed: no service
// of the machine changes.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { madeOnce } from './made-once.mjs';

const run = promisify(execFile);
const timeout = 5 * 60_000;

/**
 * Where the two programs are; undefined where there are none and no Debian package can be had.
 * @returns {Promise<{ prometheus: string, promtool: string } | undefined>}
 */
export async function findPrometheus() {
  const ofPath = (process.env.PATH ?? '').split(delimiter).find((place) => existsSync(join(place, 'promtool')));
  if (ofPath !== undefined && existsSync(join(ofPath, 'prometheus'))) return programsIn(ofPath);
  const folder = existsSync('/etc/debian_version') ? await madeOnce('prometheus', unpack).catch(() => undefined) : undefined;
  return folder === undefined ? undefined : programsIn(join(folder, 'usr/bin'));
}

/** @param {string} place */
function programsIn(place) {
  return { prometheus: join(place, 'prometheus'), promtool: join(place, 'promtool') };
}

/** @param {string} making */
async function unpack(making) {
  await download(making);
  const [file = ''] = readdirSync(making).filter((name) => name.endsWith('.deb'));
  const unpacked = join(making, 'unpacked');
  await run('dpkg', ['-x', join(making, file), unpacked], { timeout });
  return unpacked;
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
