/**
 * Where Pyodide's files are. It brings Python's standard library as sources, and spends most of its start on compiling them: the
 * build of this package does that once, and kernels find the result here.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const builtFolder = new URL('./stdlib/', import.meta.url);

/** The folder of the installed package `pyodide`, with a slash at the end. */
export function findPyodide(): URL {
  return pathToFileURL(dirname(createRequire(import.meta.url).resolve('pyodide/package.json')) + sep);
}

/** The one file of the installed package `ses` that is all of it. */
export function findSes(): URL {
  return new URL('dist/ses.mjs', pathToFileURL(createRequire(import.meta.url).resolve('ses/package.json')));
}

/** `undefined` where the build has none for just this version of Pyodide: Python then starts from sources, right but slow. */
export function findStandardLibrary(indexUrl: URL, folder = builtFolder): URL | undefined {
  const file = fileFor(indexUrl, folder);
  return existsSync(file) ? file : undefined;
}

/** For the build. Does nothing when the file is there. */
export async function compileStandardLibrary({ indexUrl = findPyodide(), folder = builtFolder } = {}): Promise<URL> {
  const file = fileFor(indexUrl, folder);
  if (existsSync(file)) return file;
  const { loadPyodide } = (await import(new URL('pyodide.mjs', indexUrl).href)) as typeof import('pyodide');
  const pyodide = await loadPyodide({ indexURL: fileURLToPath(indexUrl) });
  pyodide.FS.writeFile('/tmp/sources.zip', await readFile(new URL('python_stdlib.zip', indexUrl)));
  pyodide.runPython(await readFile(new URL('./python/compile_stdlib.py', import.meta.url), 'utf8'));
  pyodide.runPython("compile_stdlib('/tmp/sources.zip', '/tmp/compiled.zip')");
  await mkdir(folder, { recursive: true });
  // Whole or not at all, also when two builds meet.
  const draft = new URL(`${file.href}.${process.pid}`);
  await writeFile(draft, pyodide.FS.readFile('/tmp/compiled.zip'));
  await rename(draft, file);
  return file;
}

/** The version is in the name: compiled code must be that of the very sources and interpreter it is used with. */
function fileFor(indexUrl: URL, folder: URL): URL {
  const { version } = JSON.parse(readFileSync(new URL('package.json', indexUrl), 'utf8')) as { version: string };
  return new URL(`pyodide-${version}.zip`, folder);
}
