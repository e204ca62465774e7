// Bundles the window: `node src/ui/build-ui.mjs [outDir]`; by default into dist/ui. Everything it needs is in these files.
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

const target = ['chrome123', 'firefox121', 'safari17.5'];

/** @param {string} outDir Made if it is not there. */
export async function buildUi(outDir) {
  await mkdir(outDir, { recursive: true });
  const inputs = [await bundle({ app: 'main.ts' }), await bundle({ markdown: 'markdown/worker.ts' })].flat();
  await writeFile(join(outDir, 'licences.txt'), await licencesOf(inputs));
  await copyFormulaStyles(outDir);
  await buildSandboxedPage(outDir);
  await build({
    entryPoints: { app: join(here, 'styles/app.css') },
    outdir: outDir,
    bundle: true,
    minify: true,
    target,
    logLevel: 'warning',
  });
  await stop();
  for (const name of ['index.html', 'icon.svg']) await copyFile(join(here, name), join(outDir, name));

  /**
   * What is imported when it is needed becomes a file of its own, each entry with its own: nothing of one makes the other longer.
   * @param {{ [name: string]: string }} entries Returns the files that were bundled.
   */
  async function bundle(entries) {
    const { metafile } = await build({
      entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(here, file)])),
      outdir: outDir,
      bundle: true,
      splitting: true,
      chunkNames: '[name]-[hash]',
      minify: true,
      format: 'esm',
      target,
      // The whole licences of what is bundled stand in a file beside it.
      legalComments: 'none',
      metafile: true,
      logLevel: 'warning',
    });
    return Object.keys(metafile.inputs);
  }
}

/**
 * The page in which scripts of outputs run. Its own script stands in it: nothing else is ever loaded there.
 * @param {string} outDir
 */
async function buildSandboxedPage(outDir) {
  const { outputFiles } = await build({
    entryPoints: [join(here, 'sandboxed/show-pages.ts')],
    bundle: true,
    minify: true,
    format: 'iife',
    target,
    write: false,
    logLevel: 'warning',
  });
  const script = outputFiles[0]?.text.trim() ?? '';
  if (/<\/script|<!--/i.test(script)) throw new Error('The script of the sandboxed page would end its own element.');
  const page = await readFile(join(here, 'sandboxed/page.html'), 'utf8');
  await writeFile(
    join(outDir, 'sandboxed.html'),
    page.replace('__SCRIPT__', () => script),
  );
}

/**
 * KaTeX's styles and fonts, as they are, but in the one format of fonts that every browser reads, and all in one folder.
 * @param {string} outDir
 */
async function copyFormulaStyles(outDir) {
  const folder = join(dirname(fileURLToPath(import.meta.resolve('katex'))));
  const css = await readFile(join(folder, 'katex.min.css'), 'utf8');
  const fonts = new Set([...css.matchAll(/url\(fonts\/([\w-]+\.woff2)\)/g)].map(([, name]) => /** @type {string} */ (name)));
  if (fonts.size < 15) throw new Error('The styles of KaTeX name no fonts any more as they did; look at copyFormulaStyles.');
  await writeFile(
    join(outDir, 'katex.css'),
    css.replace(/,url\(fonts\/[\w-]+\.(?:woff|ttf)\) format\("\w+"\)/g, '').replaceAll('url(fonts/', 'url('),
  );
  for (const name of fonts) await copyFile(join(folder, 'fonts', name), join(outDir, name));
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
