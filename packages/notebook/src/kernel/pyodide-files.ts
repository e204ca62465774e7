/**
 * Where Pyodide's files are. It brings Python's standard library as sources, and spends most of its start on compiling them, and of the
 * rest on running them: the build of this package does both once, and kernels find the results here.
 */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { KernelFiles } from './node-kernel.js';
import { fingerprintOf, isMadeOf, packSnapshot } from './snapshot-file.js';

type SnapshotFiles = Pick<KernelFiles, 'workerUrl' | 'pythonUrl' | 'indexUrl'> & { stdlibUrl: URL };

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
  const file = fileFor(indexUrl, folder, 'zip');
  return existsSync(file) ? file : undefined;
}

/** For the build. Does nothing when the file is there. */
export async function compileStandardLibrary({ indexUrl = findPyodide(), folder = builtFolder } = {}): Promise<URL> {
  const file = fileFor(indexUrl, folder, 'zip');
  if (existsSync(file)) return file;
  const { loadPyodide } = (await import(new URL('pyodide.mjs', indexUrl).href)) as typeof import('pyodide');
  const pyodide = await loadPyodide({ indexURL: fileURLToPath(indexUrl) });
  pyodide.FS.writeFile('/tmp/sources.zip', await readFile(new URL('python_stdlib.zip', indexUrl)));
  pyodide.runPython(await readFile(new URL('./python/compile_stdlib.py', import.meta.url), 'utf8'));
  pyodide.runPython("compile_stdlib('/tmp/sources.zip', '/tmp/compiled.zip')");
  await writeWhole(file, pyodide.FS.readFile('/tmp/compiled.zip'));
  return file;
}

/** As `findStandardLibrary`; see snapshot-file.ts. */
export function findSnapshot(indexUrl: URL, folder = builtFolder): URL | undefined {
  const file = fileFor(indexUrl, folder, 'snapshot');
  return existsSync(file) ? file : undefined;
}

/** For the build, once all other files of the kernel are there. Does nothing when the file is there, and made of these. */
export async function takeSnapshot({ workerUrl, pythonUrl, indexUrl, stdlibUrl }: SnapshotFiles, folder = builtFolder): Promise<URL> {
  const file = fileFor(indexUrl, folder, 'snapshot');
  const sources = { indexUrl: indexUrl.href, pythonUrl: pythonUrl.href, stdlibUrl: stdlibUrl.href };
  const fingerprint = await fingerprintOf(sources);
  if (existsSync(file) && isMadeOf(fingerprint, await readFile(file))) return file;
  const worker = new Worker(new URL('take-snapshot.js', workerUrl), { workerData: sources, env: {}, execArgv: [] });
  const [memory] = (await once(worker, 'message')) as [Uint8Array];
  await worker.terminate();
  await writeWhole(file, packSnapshot(fingerprint, memory));
  return file;
}

/** Whole or not at all, also when two builds meet. */
async function writeWhole(file: URL, bytes: Uint8Array): Promise<void> {
  await mkdir(new URL('.', file), { recursive: true });
  const draft = new URL(`${file.href}.${process.pid}`);
  await writeFile(draft, bytes);
  await rename(draft, file);
}

/** The version is in the name: what was made of one Pyodide is for none other. */
function fileFor(indexUrl: URL, folder: URL, ending: 'zip' | 'snapshot'): URL {
  const { version } = JSON.parse(readFileSync(new URL('package.json', indexUrl), 'utf8')) as { version: string };
  return new URL(`pyodide-${version}.${ending}`, folder);
}
