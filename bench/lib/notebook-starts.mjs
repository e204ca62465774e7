// The cost of the first answer of Python: time, processor time of all processes, and the most memory that Python's own process held.
import { resolve } from 'node:path';
import { programFile, startNotebook } from './notebook-rates.mjs';
import { cpuUsOf, peakMbOf, treeOf } from './proc.mjs';
import { shuffle } from './stats.mjs';

/** `also`: the program of another build, which is started in turn with this one. */
export async function measureStarts(rounds, also) {
  const programs = { notebridge: programFile, ...(also === undefined ? {} : { also: resolve(also) }) };
  const starts = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));
  // The first start of each reads its files from the disk; nobody waits for that twice.
  for (let round = -1; round < rounds; round++) {
    for (const [name, program] of shuffle(Object.entries(programs))) {
      const start = performance.now();
      const notebook = await startNotebook({ program });
      const ms = performance.now() - start;
      const tree = treeOf(notebook.pid);
      const cpuMs = cpuUsOf(notebook.pid, tree) / 1000;
      const peakMb = Math.max(...tree.map((pid) => peakMbOf(pid, 'node-main.js') ?? 0));
      await notebook.end();
      if (round >= 0) starts[name].push({ ms, cpuMs, peakMb });
    }
  }
  return starts;
}
