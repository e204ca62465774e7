// The rest of the build, after the compiler: bundles the program, and lays beside it what it carries.
//   dist/cli/main.js, dist/index.js, dist/reference/index.js, dist/chunks/ and dist/demo/main.js are what runs, and what is shipped with the types. The other
//   modules of the compiler stay for tests that look at one part. A start opens some ten files, where it opened a hundred and more.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { carryPrivate } from '../../scripts/carry-private.mjs';
import { buildConsolePage } from './console-page/build-console.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
/** Bundled, and so no dependency of the package: of its hundred modules, half of them texts in other languages, few are needed. */
const bundled = ['commander', 'zod'];
const settings = {
  absWorkingDir: folder,
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node',
  conditions: ['notebridge-source'],
  target: 'node20.19',
  external: Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
  legalComments: 'none',
  logLevel: 'warning',
};

carryPrivate(join(folder, 'dist'));
await bundleProgram();
await build({ ...settings, entryPoints: { 'demo/main': 'demo/main.ts' } });
writeFileSync(join(folder, 'dist/THIRD-PARTY-LICENSES.txt'), [...bundled, 'swagger-ui-dist'].map(licenceOf).join('\n'));
carryDocsPage();
await buildConnectPage();
await buildConsolePage(join(folder, 'dist/console-page'));

async function bundleProgram() {
  rmSync(join(folder, 'dist/chunks'), { recursive: true, force: true });
  const { metafile } = await bundle({ write: false });
  await bundle({ plugins: [inOneChunk(metafile)] });
}

function bundle(more) {
  return build({
    ...settings,
    entryPoints: { 'cli/main': 'src/cli/main.ts', index: 'src/index.ts', 'reference/index': 'src/reference/index.ts' },
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    // What is bundled may be CommonJS, and asks for Node's own modules by this name.
    banner: { js: "import { createRequire as $createRequire } from 'node:module';\nconst require = $createRequire(import.meta.url);" },
    metafile: true,
    ...more,
  });
}

/**
 * The bundler makes a chunk for each set of parts that share modules: forty for what the command needs at its start. Here every part
 * that is loaded later is said to need all of those, which are there anyway by then; so they become one chunk.
 */
function inOneChunk({ outputs }) {
  const parts = Object.values(outputs).filter(({ entryPoint }) => entryPoint !== undefined);
  const main = Object.keys(outputs).find((path) => path.endsWith('cli/main.js'));
  const reached = new Set();
  const reach = (path) => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') reach(next);
  };
  reach(main);
  const wanted = [...reached].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {})).filter((path) => path !== 'src/cli/main.ts');
  const start = wanted.map((path) => `import ${JSON.stringify(join(folder, path))};`).join('\n');
  const isPart = new Set(
    parts.map(({ entryPoint }) => join(folder, entryPoint)).filter((path) => !wanted.includes(relative(folder, path))),
  );
  return {
    name: 'in-one-chunk',
    setup(building) {
      building.onResolve({ filter: /^all-of-the-start$/ }, () => ({ path: 'start', namespace: 'start', sideEffects: true }));
      building.onLoad({ filter: /.*/, namespace: 'start' }, () => ({ contents: start, resolveDir: folder }));
      building.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!isPart.has(path)) return undefined;
        return { contents: `import 'all-of-the-start';\n${readFileSync(path, 'utf8')}`, loader: 'ts' };
      });
    },
  };
}

function licenceOf(name) {
  // A workspace has its packages here or two folders up.
  const from = [folder, join(folder, '../..')].map((top) => join(top, 'node_modules', name)).find((path) => existsSync(path));
  const { version } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  const texts = ['NOTICE', 'LICENSE'].map((file) => join(from, file)).filter((path) => existsSync(path));
  return `${name} ${version}\n\n${texts.map((path) => readFileSync(path, 'utf8')).join('\n')}`;
}

/** The page that shows what keeps a notebook page from connecting: in the colours of the notebook's window. */
async function buildConnectPage() {
  const [from, target] = [join(folder, 'connect-page'), join(folder, 'dist/connect-page')];
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  for (const file of ['index.html', 'connect.js']) cpSync(join(from, file), join(target, file));
  cpSync(join(folder, '../notebook/src/ui/icon.svg'), join(target, 'icon.svg'));
  await build({ entryPoints: [join(from, 'connect.css')], outdir: target, bundle: true, minify: true, logLevel: 'warning' });
}

/** The files of the page that shows the routes. */
function carryDocsPage() {
  const from = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
  const target = join(folder, 'dist/docs-page');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  for (const file of ['favicon-32x32.png', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'swagger-ui.css'])
    cpSync(join(from, file), join(target, file));
}
