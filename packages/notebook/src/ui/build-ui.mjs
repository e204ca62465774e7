// Bundles the window: `node src/ui/build-ui.mjs [outDir]`; by default into dist/ui. Everything it needs is in these files.
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

/**
 * Of packages that come without the text of their licence: as it stands where they are made.
 * @type {{ readonly [scope: string]: string | undefined }}
 */
const licencesOfOwn = {
  '@jupyter-widgets': join(here, 'sandboxed/widgets/LICENSE.jupyter-widgets'),
  '@lumino': join(here, 'sandboxed/widgets/LICENSE.lumino'),
};

const shared = {
  bundle: true,
  minify: true,
  target: ['chrome123', 'firefox121', 'safari17.5'],
  // The whole licences of what is bundled stand in a file beside it.
  legalComments: /** @type {const} */ ('none'),
  metafile: /** @type {const} */ (true),
  logLevel: /** @type {const} */ ('warning'),
};

/** @param {string} outDir Made if it is not there. */
export async function buildUi(outDir) {
  await mkdir(outDir, { recursive: true });
  const inputs = [
    await bundle({ app: 'main.ts' }),
    await bundle({ markdown: 'markdown/worker.ts' }),
    await bundle({ find: 'find/pattern-worker.ts' }),
    await buildSandboxedPage('sandboxed', ['show-pages.ts'], join(outDir, 'sandboxed.html')),
    await buildSandboxedPage('sandboxed/widgets', ['page.ts', 'widgets.css'], join(outDir, 'widgets.html')),
    await buildChartLibraries(outDir),
  ].flat();
  await writeFile(join(outDir, 'licences.txt'), await licencesOf(inputs));
  await copyFormulaStyles(outDir);
  await build({ ...shared, entryPoints: { app: join(here, 'styles/app.css') }, outdir: outDir });
  await stop();
  for (const name of ['index.html', 'icon.svg']) await copyFile(join(here, name), join(outDir, name));

  /**
   * What is imported when it is needed becomes a file of its own, each entry with its own: nothing of one makes the other longer.
   * @param {{ [name: string]: string }} entries Returns the files that were bundled.
   */
  async function bundle(entries) {
    const entryPoints = Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(here, file)]));
    const { metafile } = await build({
      ...shared,
      entryPoints,
      outdir: outDir,
      splitting: true,
      chunkNames: '[name]-[hash]',
      format: 'esm',
    });
    return Object.keys(metafile.inputs);
  }
}

/**
 * A page in which what a notebook shows runs apart. Its own script and styles stand in it: nothing else is ever loaded there.
 * @param {string} folder
 * @param {string[]} entries Of its script and styles.
 * @param {string} outFile Returns the files that were bundled.
 */
async function buildSandboxedPage(folder, entries, outFile) {
  const { outputFiles, metafile } = await build({
    ...shared,
    entryPoints: entries.map((name) => join(here, folder, name)),
    format: 'iife',
    write: false,
    outdir: outFile,
    // A parser of HTML and one of CSS, for the descriptions of widgets.
    alias: { 'sanitize-html': join(here, 'sandboxed/widgets/inline-html.ts') },
  });
  const textOf = (/** @type {string} */ ending) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? '';
  const page = await readFile(join(here, folder, 'page.html'), 'utf8');
  // In a script, both stand in strings and patterns only.
  const code = textOf('.js').replace(/<(?=\/script|!--)/gi, '\\x3c');
  const styles = textOf('.css').replace(/<(?=\/)/g, '\\3c ');
  await writeFile(
    outFile,
    page.replace('__SCRIPT__', () => code).replace('/* __STYLE__ */', () => styles),
  );
  return Object.keys(metafile.inputs);
}

/**
 * Libraries that draw charts: each is one script, which a sandboxed page is given where an output needs it.
 * @param {string} outDir Returns the files that were bundled.
 */
async function buildChartLibraries(outDir) {
  const from = join(here, 'sandboxed/charts');
  const plotly = fileURLToPath(import.meta.resolve('plotly.js-dist-min/plotly.min.js'));
  const d3 = fileURLToPath(import.meta.resolve('d3/d3.min.js'));
  const options = { ...shared, loader: { '.png': /** @type {const} */ ('dataurl') } };
  const { outputFiles } = await build({ ...options, entryPoints: [join(from, 'leaflet.css')], write: false });
  const { metafile } = await build({
    ...options,
    entryPoints: { 'chart-vega': join(from, 'vega.ts'), 'chart-leaflet': join(from, 'leaflet.ts') },
    outdir: outDir,
    format: 'iife',
    define: { leafletStyles: JSON.stringify(outputFiles[0]?.text ?? '') },
  });
  await copyFile(plotly, join(outDir, 'chart-plotly.js'));
  await copyFile(d3, join(outDir, 'chart-d3.js'));
  return [...Object.keys(metafile.inputs), plotly, d3];
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
    const name = folder.replace(/^.*node_modules\//, '');
    const own = (await readdir(folder)).find((file) => /^(?:mit-)?licen[cs]e/i.test(file));
    const file = own === undefined ? licencesOfOwn[name.split('/')[0] ?? ''] : join(folder, own);
    if (file === undefined) throw new Error(`${folder} has no licence file; it can't be bundled.`);
    return `${name}\n\n${(await readFile(file, 'utf8')).trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildUi(resolve(process.argv[2] ?? join(here, '../../dist/ui')));
