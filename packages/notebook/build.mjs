// What `tsc` does not do: the Python files of the kernel go along as they are, Python's own library is compiled and its first imports are
// run once, so that a kernel starts sooner, and the window is bundled for the browser.
import { cpSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { carryPrivate } from '../../scripts/carry-private.mjs';
import { compileStandardLibrary, findPyodide, takeSnapshot } from './dist/kernel/pyodide-files.js';
import { bundleYjs } from './src/lab/bundle-yjs.mjs';
import { buildUi } from './src/ui/build-ui.mjs';

carryPrivate(fileURLToPath(new URL('dist/', import.meta.url)));
for (const folder of ['kernel/python/', 'kernel/jupyter/python/']) {
  cpSync(new URL(`src/${folder}`, import.meta.url), new URL(`dist/${folder}`, import.meta.url), {
    recursive: true,
    filter: (file) => !file.includes('__pycache__'),
  });
}
// The sandbox shows Python's process this folder and none above it. Without the type Node guesses, file by file, which is what; a file that is
// being replaced, by a build beside it, is then taken for CommonJS.
writeFileSync(new URL('dist/kernel/package.json', import.meta.url), '{ "type": "module" }\n');
const kernelFolder = new URL('dist/kernel/', import.meta.url);
const kernelFiles = async () => ({
  workerUrl: new URL('worker/node-main.js', kernelFolder),
  pythonUrl: new URL('python/', kernelFolder),
  indexUrl: findPyodide(),
  stdlibUrl: await compileStandardLibrary(),
});
const drawn = async () => {
  // One after the other: each ends esbuild's process when it is done.
  await bundleYjs(fileURLToPath(new URL('dist/lab/', import.meta.url)));
  await buildUi(fileURLToPath(new URL('dist/ui/', import.meta.url)));
};
await Promise.all([kernelFiles().then((files) => takeSnapshot(files)), drawn()]);
