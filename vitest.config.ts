import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts'],
    // Real processes: a test that leaves a child or a socket behind can't harm its neighbours.
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    retry: 0,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
