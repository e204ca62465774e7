import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { requirements } from './scripts/tests/requirements.mjs';
import { chosenFiles, filterOfTests } from './scripts/tests/sets.mjs';

const files = chosenFiles();
const sharedChromium = 'scripts/tests/shared-chromium.mjs';
const leakCheck = 'scripts/tests/leftovers/setup.mjs';

/** Tests that share a kind of environment. `include` names the files of the set that is asked for: `scripts/tests/sets.mjs`. */
function project(name: string, options: object) {
  const include = files.filter(({ kind }) => kind === name).map(({ path }) => path);
  return { extends: true as const, test: { name, include, ...options } };
}

/** Private packages are read from their sources, so a test needs no build of them. */
const resolve = { conditions: ['notebridge-source', 'module', 'node', 'development|production'] };

export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    projects: [
      // They open no program of their own, so they need none: one thread runs many files, and a module is loaded once for all.
      project('unit', { pool: 'threads', isolate: false }),
      project('process', {
        // A process for each file; in the core, where starting them was an eighth of the work, each process runs many. A file that leaves
        // a child, a socket or a timer behind fails by itself.
        pool: 'forks',
        isolate: process.env.NOTEBRIDGE_TESTS !== 'core',
        globalSetup: files.some(({ kind, needs }) => kind === 'process' && needs.includes('chromium')) ? [sharedChromium] : [],
      }),
      // When all others have ended, one file after the other.
      project('alone', {
        ...{ pool: 'forks', maxWorkers: 1, sequence: { groupOrder: 1 } },
        globalSetup: [sharedChromium],
      }),
    ],
    // Tests wait for browsers, kernels and time-outs about as long as they compute; in the core, a little longer.
    maxWorkers: Math.ceil((process.env.NOTEBRIDGE_TESTS === 'core' ? 2.5 : 2) * availableParallelism()),
    // Fails the file that leaves a process, a port, a temporary file, a timer or another handle behind.
    setupFiles: [leakCheck],
    // No file is begun after `NOTEBRIDGE_TESTS_UNTIL`.
    runner: 'scripts/tests/runner.mjs',
    tags: [
      { name: 'deep', description: 'takes long, and finds what the core does not: npm run test:all, and in turn on CI' },
      ...requirements().map(({ id, text }) => ({ name: id, description: text })),
    ],
    ...filterOfTests(),
    // The projects, and the next run, read what one of them has transformed.
    experimental: { fsModuleCache: true },
    // What hangs is ended; no test is about how fast the machine is, which may have several times as much to do as it can.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Vitest's own second is over on a busy machine before a browser has drawn once.
    expect: { poll: { timeout: 45_000 } },
    // A red test is a fact. Tests that drive a browser say so one by one (`scripts/drives-browser.mjs`).
    retry: 0,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
