// Bundles the window: `node src/ui/build-ui.mjs [outDir]`; by default into dist/ui. Everything it needs is in these files.
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

/** @param {string} outDir Made if it is not there. */
export async function buildUi(outDir) {
  await mkdir(outDir, { recursive: true });
  await build({
    entryPoints: { app: join(here, 'main.ts') },
    outdir: outDir,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // Licences of what is bundled stand in a file beside it.
    legalComments: 'linked',
    logLevel: 'warning',
  });
  await build({
    entryPoints: { app: join(here, 'styles/app.css') },
    outdir: outDir,
    bundle: true,
    minify: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'icon.svg']) await copyFile(join(here, name), join(outDir, name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildUi(resolve(process.argv[2] ?? join(here, '../../dist/ui')));
