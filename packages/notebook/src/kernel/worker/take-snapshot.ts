/** For the build, in a thread of its own: loads Python as each start does, and posts its memory. No code of a user runs in here. */
import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createJsGlobals } from './js-globals.js';
import { importKernel, pyodideOptions, readPythonFiles } from './python.js';
import { openShellScope } from './shell-scope.js';

const { indexUrl, stdlibUrl, pythonUrl } = workerData as { [name: string]: string };
const files = await readPythonFiles((url) => readFile(new URL(url), 'utf8'), `${pythonUrl}`);
openShellScope({ isPlain: true });
const { loadPyodide } = (await import(`${indexUrl}pyodide.mjs`)) as typeof import('pyodide');
const jsglobals = createJsGlobals(() => {
  throw new Error('Nothing is fetched for a snapshot');
});
const pyodide = await loadPyodide({
  ...pyodideOptions(jsglobals),
  indexURL: `${indexUrl}`,
  stdLibURL: `${stdlibUrl}`,
  _makeSnapshot: true,
});
importKernel(pyodide, files);
// Each start puts it there again.
pyodide.runPython('import gc, sys; sys.path.remove(""); gc.collect()');
const memory = pyodide.makeMemorySnapshot();
parentPort?.postMessage(memory, [memory.buffer as ArrayBuffer]);
