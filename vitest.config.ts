import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongestFirst from './scripts/longest-first.mjs';

export default defineConfig({
  test: {
    include: ['packages/*/{src,demo,test}/**/*.test.ts'],
    // Fails the file that leaves a process, a port, a temporary file, a timer or another handle behind.
    setupFiles: ['scripts/leftovers/setup.mjs'],
    // Real processes: a test that leaves a child or a socket behind can't harm its neighbours.
    pool: 'forks',
    // Tests wait for browsers, kernels and time-outs about as long as they compute. More workers than that, and limits that are part of what is
    // tested (a ping's, the half seconds of the conformance suite) pass in vain.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
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
