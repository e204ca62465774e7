// Programs of npm that tests run and that are none of ours, with the Node that they need: installed once, by npm, as a lock file says.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { madeOnce } from './made-once.mjs';

const fixtures = fileURLToPath(new URL('../packages/notebridge/test/fixtures', import.meta.url));

/**
 * Installs what is missing. Throws with what npm said when it cannot be installed.
 * @param {string} folder Of the fixtures: has `package.json`, with one of its dependencies `node`, and the lock file.
 * @returns {Promise<{ node: string, modules: string }>} The Node to run them with, and `node_modules`.
 */
export async function lockedPackages(folder) {
  const wanted = join(fixtures, folder);
  /** Of all that is installed. */
  const digest = createHash('sha256')
    .update(readFileSync(join(wanted, 'package-lock.json')))
    .digest('hex');
  const made = await madeOnce(`${folder}-${digest.slice(0, 12)}`, (making) => install(wanted, making));
  const modules = join(made, 'node_modules');
  return { modules, node: join(modules, 'node/bin', process.platform === 'win32' ? 'node.exe' : 'node') };
}

/** @param {string} wanted @param {string} making */
async function install(wanted, making) {
  const { dependencies } = JSON.parse(readFileSync(join(wanted, 'package.json'), 'utf8'));
  const all = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`);
  process.stderr.write(`installing ${all.join(', ')}\n`);
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(wanted, file), join(making, file));
  // Its Node is fetched by a script of the package `node`.
  const args = ['ci', '--no-audit', '--no-fund', '--fetch-retries=1', '--fetch-timeout=30000'];
  // Not by `--prefix`: npm takes a folder behind a symbolic link, as `.cache` may be, for a package that the lock file lacks.
  await promisify(execFile)('npm', args, { cwd: making, timeout: 10 * 60_000, shell: process.platform === 'win32' });
  return making;
}
