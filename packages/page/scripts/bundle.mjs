// Builds dist/page.min.js: the whole library as one minified module, for <script type="module"> without a build of one's own.
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import { carryPrivate } from '../../../scripts/carry-private.mjs';

const source = fileURLToPath(new URL('../src/index.ts', import.meta.url));
const target = fileURLToPath(new URL('../dist/page.min.js', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  carryPrivate(dirname(target));
  writeFileSync(target, await bundle());
}

/**
 * The text of the bundle, from the sources as they are now.
 * @returns {Promise<string>}
 */
export async function bundle() {
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    banner: { js: '// @notebridge/page, Apache-2.0' },
    write: false,
  });
  await stop();
  return outputFiles[0]?.text ?? '';
}
