import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts'],
    // Real processes: a test that leaves a child or a socket behind can't harm its neighbours.
    pool: 'forks',
    // Tests wait for browsers and processes more than they compute: on two cores, two at a time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A real browser on a busy machine may need a second look; the output tells of it. By hand there is none.
    retry: process.env.CI === 'true' ? 2 : 0,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
