// The official conformance suite of MCP, with the Node that it needs: for tests. Installed once, into node_modules/.cache, by npm.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const version = '0.2.0-alpha.12';
const nodeMajor = 24;
const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules/.cache/notebridge');
const folder = join(cache, `conformance-${version}`);
const modules = join(folder, 'node_modules');
const suite = join(modules, '@modelcontextprotocol/conformance');

/**
 * Installs what is missing. Throws with what npm said when it cannot be installed.
 * @returns {Promise<{ node: string, program: string, required: (revision: string, side: 'server' | 'client') => string[] }>} The Node to
 * run it with, its program, and the scenarios that count for a revision of the specification.
 */
export async function conformanceSuite() {
  if (!existsSync(join(folder, 'installed'))) await install();
  const program = join(suite, 'dist/index.js');
  return { node: join(modules, 'node/bin', process.platform === 'win32' ? 'node.exe' : 'node'), program, required };
}

async function install() {
  process.stderr.write(`conformance: installing the suite ${version} and Node ${nodeMajor}\n`);
  // Made aside: what a run that was ended has left half done is never used.
  const making = `${folder}-${process.pid}`;
  mkdirSync(making, { recursive: true });
  writeFileSync(join(making, 'package.json'), '{ "private": true }\n');
  const packages = [`@modelcontextprotocol/conformance@${version}`, `node@${nodeMajor}`];
  // Its Node is fetched by a script of the package `node`.
  const args = ['install', '--prefix', making, '--no-audit', '--no-fund', '--save-exact', ...packages];
  await promisify(execFile)('npm', args, { timeout: 10 * 60_000, shell: process.platform === 'win32' });
  writeFileSync(join(making, 'installed'), '');
  takeInto(making);
}

/** Another test file may have installed it meanwhile, and be at work with it: then that one stays. @param {string} making */
function takeInto(making) {
  try {
    if (!existsSync(join(folder, 'installed'))) return renameSync(making, folder);
  } catch (error) {
    if (!existsSync(join(folder, 'installed'))) throw error;
  }
  rmSync(making, { recursive: true, force: true });
}

/** @param {string} revision @param {'server' | 'client'} side @returns {string[]} */
function required(revision, side) {
  const [, list = ''] =
    new RegExp(`^${side}:\\n((?: {2}- .*\\n)+)`, 'm').exec(readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8')) ?? [];
  return Array.from(list.matchAll(/^ {2}- (.+)$/gm), ([, name]) => String(name).trim());
}
