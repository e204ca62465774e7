// The official conformance suite of MCP, with the Node that it needs: for tests. Installed once, by npm, as its lock file says.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { madeOnce } from './made-once.mjs';

const wanted = fileURLToPath(new URL('../packages/notebridge/test/fixtures/conformance-suite', import.meta.url));
const { dependencies } = JSON.parse(readFileSync(join(wanted, 'package.json'), 'utf8'));
/** Of all that is installed. */
const digest = createHash('sha256')
  .update(readFileSync(join(wanted, 'package-lock.json')))
  .digest('hex');
const version = dependencies['@modelcontextprotocol/conformance'];

/**
 * Installs what is missing. Throws with what npm said when it cannot be installed.
 * @returns {Promise<{ node: string, program: string, required: (revision: string, side: 'server' | 'client') => string[] }>} The Node to
 * run it with, its program, and the scenarios that count for a revision of the specification.
 */
export async function conformanceSuite() {
  const modules = join(await madeOnce(`conformance-${version}-${digest.slice(0, 12)}`, install), 'node_modules');
  const suite = join(modules, '@modelcontextprotocol/conformance');
  return {
    node: join(modules, 'node/bin', process.platform === 'win32' ? 'node.exe' : 'node'),
    program: join(suite, 'dist/index.js'),
    required: (revision, side) => required(readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8'), side),
  };
}

/** @param {string} making */
async function install(making) {
  process.stderr.write(`conformance: installing the suite ${version} and Node ${dependencies.node}\n`);
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(wanted, file), join(making, file));
  // Its Node is fetched by a script of the package `node`.
  const args = ['ci', '--no-audit', '--no-fund', '--fetch-retries=1', '--fetch-timeout=30000'];
  // Not by `--prefix`: npm takes a folder behind a symbolic link, as `.cache` may be, for a package that the lock file lacks.
  await promisify(execFile)('npm', args, { cwd: making, timeout: 10 * 60_000, shell: process.platform === 'win32' });
  return making;
}

/** @param {string} requirements @param {'server' | 'client'} side @returns {string[]} */
function required(requirements, side) {
  const [, list = ''] = new RegExp(`^${side}:\\n((?: {2}- .*\\n)+)`, 'm').exec(requirements) ?? [];
  return Array.from(list.matchAll(/^ {2}- (.+)$/gm), ([, name]) => String(name).trim());
}
