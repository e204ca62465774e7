// A Node that is new enough for the packages of OpenTelemetry, for tests: this one if it is, else one that npm installs, once, into
// .cache.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const wantedMajor = 24;
const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), '.cache');
const folder = join(cache, `node-${wantedMajor}`);

/** Throws with what npm said when it cannot be installed. @returns {Promise<string>} The path of the program. */
export async function newerNode() {
  if (Number(process.versions.node.split('.')[0]) >= wantedMajor) return process.execPath;
  if (!existsSync(join(folder, 'installed'))) await install();
  return join(folder, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

async function install() {
  process.stderr.write(`tests: installing Node ${wantedMajor}\n`);
  // Made aside: what a run that was ended has left half done is never used.
  const making = `${folder}-${process.pid}`;
  mkdirSync(making, { recursive: true });
  writeFileSync(join(making, 'package.json'), '{ "private": true }\n');
  // It is fetched by a script of the package `node`.
  const args = ['install', '--prefix', making, '--no-audit', '--no-fund', `node@${wantedMajor}`];
  await promisify(execFile)('npm', args, { timeout: 10 * 60_000, shell: process.platform === 'win32' });
  writeFileSync(join(making, 'installed'), '');
  try {
    renameSync(making, folder);
  } catch (error) {
    // Another test file was quicker.
    if (!existsSync(join(folder, 'installed'))) throw error;
    rmSync(making, { recursive: true, force: true });
  }
}
