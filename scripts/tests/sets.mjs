// The sets of tests. `core` proves a change in minutes; `deep` is what takes long, one fifth of it in turn; `all` is both. Without a set,
// as in `npx vitest run FILE`, a file runs whole.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { root } from '../run.mjs';
import { testFiles } from './files.mjs';

export const shards = 5;

/** The set, from the environment: `core`, `all`, or `deep` with its files as JSON in `NOTEBRIDGE_DEEP_FILES`. */
function chosenSet() {
  return process.env.NOTEBRIDGE_TESTS ?? 'all';
}

/** @returns {import('./files.mjs').TestFile[]} The files that vitest may run. */
export function chosenFiles() {
  const files = testFiles();
  if (chosenSet() === 'core') return files.filter(({ isDeep }) => !isDeep);
  if (chosenSet() !== 'deep') return files;
  const named = JSON.parse(process.env.NOTEBRIDGE_DEEP_FILES ?? '[]');
  return files.filter(({ path }) => named.includes(path));
}

/** The part of vitest's configuration that leaves tests of the chosen files out. */
export function filterOfTests() {
  if (chosenSet() === 'core') return { tagsFilter: ['!deep'] };
  return chosenSet() === 'deep' ? { tagsFilter: ['deep'] } : {};
}

/** The fifth that comes next: by the number of commits, and in a clone without history by the hash of the commit. */
export function nextShard() {
  const isShallow = git('rev-parse', '--is-shallow-repository') !== 'false';
  return isShallow
    ? Number.parseInt(git('rev-parse', 'HEAD').slice(0, 8), 16) % shards
    : Number(git('rev-list', '--count', 'HEAD')) % shards;
}

/**
 * The deep files of a shard, and before them those whose requirements have tests beside what changed since a commit.
 * @param {number} shard
 * @param {string | undefined} since
 */
export function deepFiles(shard, since) {
  const files = testFiles();
  const deep = files.filter(({ isDeep, hasDeepTests }) => isDeep || hasDeepTests);
  const inTurn = deep.filter(({ path }) => createHash('sha256').update(path).digest()[0] % shards === shard);
  const changed = new Set(changedFiles(since).map((file) => dirname(file)));
  const concerned = new Set(files.filter(({ path }) => changed.has(dirname(path))).flatMap(({ requirements }) => requirements));
  const touched = deep.filter(({ path, requirements }) => changed.has(dirname(path)) || requirements.some((id) => concerned.has(id)));
  return { inTurn, touched: touched.filter((file) => !inTurn.includes(file)) };
}

function changedFiles(since) {
  if (since === undefined) return [];
  return git('diff', '--name-only', since, 'HEAD')
    .split('\n')
    .filter((file) => file.startsWith('packages/'));
}

/** Empty where git can't tell. */
function git(...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}
