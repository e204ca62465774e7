// Bundles the console. Everything that it needs is in these files; what is seldom opened is in a file of its own.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

/** @param {string} outDir Made anew. */
export async function buildConsolePage(outDir) {
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: here,
    entryPoints: { console: 'main.tsx' },
    outdir: outDir,
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The whole licences of what is bundled stand in a file beside it.
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  await build({ entryPoints: { console: join(here, 'console.css') }, outdir: outDir, bundle: true, minify: true, logLevel: 'warning' });
  copyFileSync(join(here, 'index.html'), join(outDir, 'index.html'));
  copyFileSync(join(here, '../../notebook/src/ui/icon.svg'), join(outDir, 'icon.svg'));
  writeFileSync(join(outDir, 'licences.txt'), licencesOf(Object.keys(metafile.inputs)));
}

/** @param {string[]} files Of what is bundled. */
function licencesOf(files) {
  const folders = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  return [...folders]
    .sort()
    .map((folder) => {
      const licence = readdirSync(join(here, folder)).find((file) => /^licen[cs]e/i.test(file));
      if (licence === undefined) throw new Error(`${folder} has no licence file; it cannot be bundled.`);
      return `${folder.replace(/^.*node_modules\//, '')}\n\n${readFileSync(join(here, folder, licence), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}
