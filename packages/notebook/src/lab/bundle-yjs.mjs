// Bundles what `yjs.ts` names, in its place: the shared documents, 90 kB of two packages that are six megabytes.
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import { licencesOf } from '../ui/build-ui.mjs';

/** @param {string} outDir Where the compiler has put `yjs.js`. */
export async function bundleYjs(outDir) {
  const { metafile } = await build({
    entryPoints: [join(dirname(fileURLToPath(import.meta.url)), 'yjs.ts')],
    outfile: join(outDir, 'yjs.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  await writeFile(join(outDir, 'licences.txt'), await licencesOf(Object.keys(metafile.inputs)));
  await stop();
}
