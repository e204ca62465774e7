// Which test files there are, and what each needs. It is read from the files themselves, so no list has to be kept.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { root } from '../run.mjs';

/**
 * What a test file reaches that has to be installed or started first, by what its imports say. Sources of ours are not looked into: what
 * they start, they start for users too.
 */
const needs = {
  chromium: /from 'playwright-core'|\bfindChromium\b/,
  nats: /\/nats-server\.mjs'/,
  bubblewrap: /\bbwrap\b|\bbubblewrap\b/i,
  libfaketime: /\/clock-library\.mjs'/,
};
/** A file that starts programs; `// @runs process` in a file says so where its imports do not. */
const startsPrograms =
  /node:child_process|node:cluster|cross-spawn|process\.execPath|process\.sete?uid|from 'esbuild'|\/dist\/|^\/\/ @runs process$/m;
const kinds = [
  // `// @runs alone` in a file: a program of others in it gives an answer so little time that a busy machine is too slow.
  ['alone', ({ own }) => /^\/\/ @runs alone$/m.test(own)],
  ['process', ({ needs, text }) => needs.length > 0 || startsPrograms.test(text)],
  ['unit', () => true],
];

/**
 * @typedef {object} TestFile
 * @property {string} path From the root of the checkout, with slashes.
 * @property {'unit' | 'process' | 'alone'} kind The vitest project that runs it.
 * @property {string[]} needs What has to be installed for it: keys of `needs`.
 * @property {boolean} isDeep It is no part of the core: `// @module-tag deep`.
 * @property {boolean} hasDeepTests Some of its tests are deep.
 * @property {string[]} requirements The numbers of `test/requirements.md` that its tests carry.
 */

/** @returns {TestFile[]} */
export function testFiles() {
  return packageTests().map((path) => {
    const file = join(root, path);
    const own = read(file);
    const text = [...reachedFrom(file)].map(read).join('\n');
    const needed = [...Object.keys(needs).filter((name) => needs[name].test(text)), ...pythonsIn(text)];
    const [kind] = /** @type {[TestFile['kind'], unknown]} */ (kinds.find(([, isOfKind]) => isOfKind({ needs: needed, text, own })));
    return {
      path,
      kind,
      needs: needed,
      isDeep: /^\/\/ @module-tag deep$/m.test(own),
      hasDeepTests: /'deep'|\bcoreAndDeep\(/.test(own),
      requirements: [...new Set(own.match(/(?<='|@module-tag )P-\d{3}\b/g))],
    };
  });
}

/** Its environments of Python: `environment: 'older'`, or `science`. */
function pythonsIn(text) {
  if (!/\/python-env\.mjs'/.test(text)) return [];
  const named = [...text.matchAll(/\benvironment: '(\w+)'/g)].map(([, name]) => `python:${name}`);
  return named.length > 0 ? named : ['python:science'];
}

/** The files that the words of a command line name, as vitest matches them: by a part of the path. No words: all. */
export function namedFiles(files, words) {
  const parts = words.map((word) => word.replace(/:\d+$/, '').split(sep).join('/'));
  return parts.length === 0 ? files : files.filter(({ path }) => parts.some((part) => join(root, path).includes(part)));
}

function packageTests() {
  return readdirSync(join(root, 'packages'))
    .flatMap((name) => ['src', 'demo', 'test'].map((part) => `packages/${name}/${part}`))
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => `${folder}/${name.split(sep).join('/')}`),
    )
    .sort();
}

/** The file and what it imports, over any number of steps, without the sources of the packages. */
function reachedFrom(file) {
  const found = new Set([file]);
  for (const each of found) {
    for (const [, name = ''] of read(each).matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)) {
      const path = sourceOf(resolve(dirname(each), name));
      if (path && !/^packages\/[^/]+\/(src|console-page)\//.test(relative(root, path).split(sep).join('/'))) found.add(path);
    }
  }
  return found;
}

function sourceOf(path) {
  return [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')].find(
    (each) => /\.[cm]?[jt]sx?$/.test(each) && existsSync(each),
  );
}

const texts = new Map();

function read(file) {
  if (!texts.has(file)) texts.set(file, readFileSync(file, 'utf8'));
  return texts.get(file);
}
