import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * The simulation as one file that any supported Node runs.
 * @param {string} outfile
 */
export async function bundleWorker(outfile) {
  const entry = join(dirname(fileURLToPath(import.meta.url)), 'simulate-worker.ts');
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error', sourcemap: 'inline' });
}
