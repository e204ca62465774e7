// Bundles what runs JavaScript, in its place: QuickJS with its WebAssembly, what reads code, and the first code of every context. The kernel's
// process may read this one folder, and so looks for no package.
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import { licencesOf } from '../../ui/build-ui.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/** @param {string} outDir Where the compiler has put `quickjs.js`. */
export async function bundleQuickJs(outDir) {
  await mkdir(join(outDir, 'guest'), { recursive: true });
  const inputs = [
    await bundle({ from: 'quickjs.ts', outDir, options: { platform: 'node', target: 'node20.19' } }),
    await bundle({ from: 'parsers.ts', outDir, options: { platform: 'node', target: 'node20.19' } }),
    await bundle({
      from: 'guest/open.ts',
      outDir,
      options: { format: 'iife', globalName: 'guest', platform: 'neutral', target: 'es2022' },
    }),
  ].flat();
  const wasm = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
  await copyFile(wasm, join(outDir, 'quickjs.wasm'));
  await writeFile(join(outDir, 'licences.txt'), await licencesOf(inputs));
  await stop();
}

/**
 * @param {{ from: string, outDir: string, options: import('esbuild').BuildOptions }} part
 * @returns {Promise<string[]>} The files that were bundled.
 */
async function bundle({ from, outDir, options }) {
  const { metafile } = await build({
    entryPoints: [join(here, from)],
    outfile: join(outDir, from.replace(/\.ts$/, '.js')),
    bundle: true,
    minify: true,
    format: 'esm',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    ...options,
  });
  return Object.keys(metafile?.inputs ?? {});
}
