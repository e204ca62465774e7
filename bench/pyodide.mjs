// Pyodide alone, loaded as its own documentation says: what no notebook on Pyodide can leave out.
//   node pyodide.mjs FOLDER      FOLDER is that of the package. Prints "ready"; for each line "MS RUNS" on stdin runs `1+1` for
//                                so long, but no oftener than that, one after the other, and prints how often and how long that was
import { constants } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

// Emscripten asks for the open flags this way, which Node refuses under its permission model.
Object.assign(process, { binding: () => ({ fs: constants }) });
const [folder] = process.argv.slice(2);
const { loadPyodide } = await import(new URL('pyodide.mjs', pathToFileURL(folder)).href);
const pyodide = await loadPyodide({ indexURL: folder });
await run();
process.stdout.write('ready\n');

for await (const line of createInterface({ input: process.stdin })) {
  const [ms, maxRuns] = line.split(' ').map(Number);
  const start = performance.now();
  let runs = 0;
  for (; runs < maxRuns && performance.now() - start < ms; runs++) await run();
  process.stdout.write(`${JSON.stringify({ runs, elapsedMs: performance.now() - start })}\n`);
}

async function run() {
  const value = await pyodide.runPythonAsync('1+1');
  if (value !== 2) throw new Error(`1+1 is ${value}`);
}
