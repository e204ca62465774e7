// What the sandbox of the operating system costs: the start of Python, and `1+1`, with and without, in turns. `npm run build` first.
// node bench/sandbox.mjs [rounds]
import { createNodeKernel } from '../packages/notebook/dist/kernel/node-kernel.js';

const rounds = Number(process.argv[2] ?? 7);
const cells = 2000;
const modes = /** @type {const} */ (['off', 'require']);
const found = { off: { startMs: [], cellsPerS: [] }, require: { startMs: [], cellsPerS: [] } };

for (let round = 0; round <= rounds; round++)
  for (const mode of round % 2 === 0 ? modes : [...modes].reverse()) {
    const kernel = createNodeKernel({ sandbox: mode });
    const startMs = await timed(() => kernel.start());
    const runMs = await timed(async () => {
      for (let cell = 0; cell < cells; cell++) await kernel.execute('1+1', { onOutput: () => {} });
    });
    await kernel.close();
    // The first round warms the disk's cache, and tries the sandbox out.
    if (round === 0) continue;
    found[mode].startMs.push(startMs);
    found[mode].cellsPerS.push((cells / runMs) * 1000);
  }
for (const mode of modes)
  console.log(mode.padEnd(8), `start ${median(found[mode].startMs)} ms,`, `1+1 ${median(found[mode].cellsPerS)} cells/s`);

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function median(numbers) {
  return Math.round(numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0);
}
