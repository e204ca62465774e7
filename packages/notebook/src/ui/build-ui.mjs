// Bundles the window: `node src/ui/build-ui.mjs [outDir]`; by default into dist/ui. Everything it needs is in these files.
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

/** @param {string} outDir Made if it is not there. */
export async function buildUi(outDir) {
  await mkdir(outDir, { recursive: true });
  const { metafile } = await build({
    entryPoints: { app: join(here, 'main.ts'), markdown: join(here, 'markdown/worker.ts') },
    outdir: outDir,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // The whole licences of what is bundled stand in a file beside it.
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  await writeFile(join(outDir, 'licences.txt'), await licencesOf(Object.keys(metafile.inputs)));
  await build({
    entryPoints: { app: join(here, 'styles/app.css') },
    outdir: outDir,
    bundle: true,
    minify: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
    logLevel: 'warning',
  });
  await stop();
  for (const name of ['index.html', 'icon.svg']) await copyFile(join(here, name), join(outDir, name));
}

/**
 * The licence texts of the packages that the files are of, as their licences ask for.
 * @param {string[]} files
 */
export async function licencesOf(files) {
  const folders = new Set(
    files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter((folder) => folder !== undefined),
  );
  const texts = [...folders].sort().map(async (folder) => {
    const name = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file));
    if (name === undefined) throw new Error(`${folder} has no licence file; it can't be bundled.`);
    return `${folder.replace(/^.*node_modules\//, '')}\n\n${(await readFile(join(folder, name), 'utf8')).trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildUi(resolve(process.argv[2] ?? join(here, '../../dist/ui')));
