// Measures the built-in notebook with a Python of one's own beside jupyter_client alone: `1+1` by the tool `run_code_cell`, and how soon
// the kernel is there. Turns of both follow one another, so that a busy machine slows both. `npm run bench -- jupyter`
//   node bench/jupyter.mjs [--rounds N] [--python FILE]      FILE: one that has ipykernel. Default: one made for the tests
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createJupyterKernel, createNotebookHost } from '../packages/notebook/dist/host/index.js';
import { pythonWith } from '../scripts/python-env.mjs';

const turnMs = 500;
const science = ['ipykernel', 'jupyter_client', 'numpy', 'pandas', 'matplotlib', 'scikit-learn', 'ipywidgets'];
const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== 'jupyter'),
  options: { rounds: { type: 'string', default: '9' }, python: { type: 'string' }, quick: { type: 'boolean', default: false } },
});
const rounds = values.quick ? 2 : Number(values.rounds);
const python = values.python ?? (await pythonWith(science));

const ready = { ours: [], alone: [] };
const ratios = [];
const perRun = { ours: [], alone: [] };
for (let round = 0; round < rounds; round++) {
  const ours = await openOurs();
  const alone = await openAlone();
  ready.ours.push(ours.readyMs);
  ready.alone.push(alone.readyMs);
  for (let turn = 0; turn < 4; turn++) {
    const [mine, theirs] = [await ours.turn(), await alone.turn()];
    // The first one warms up.
    if (turn === 0) continue;
    perRun.ours.push(mine.elapsedMs / mine.runs);
    perRun.alone.push(theirs.elapsedMs / theirs.runs);
    ratios.push(theirs.elapsedMs / theirs.runs / (mine.elapsedMs / mine.runs));
  }
  await ours.close();
  await alone.close();
}
const text = [
  `1+1, ms: built-in notebook ${show(perRun.ours)}, jupyter_client alone ${show(perRun.alone)}`,
  `1+1, speed ÷ jupyter_client alone: ${show(ratios)} (aim: ≥ 0.5)`,
  `kernel ready, with its first cell, ms: built-in notebook ${show(ready.ours)}, jupyter_client alone ${show(ready.alone)}`,
];
process.stdout.write(`${text.join('\n')}\n`);
process.exit(0);

async function openOurs() {
  const start = performance.now();
  const kernel = createJupyterKernel({ python, folder: process.cwd() });
  const host = createNotebookHost({ kernel });
  await host.start();
  const { id: cellId } = host.session.document.insert(0, { type: 'code', source: '1+1' }, { by: { kind: 'person', name: 'You' } });
  const run = async () => {
    const { content } = await host.callTool('run_code_cell', { cellId });
    const { outputs } = JSON.parse(content[0].text);
    if (String(outputs[0]?.data?.['text/plain']) !== '2') throw new Error(`1+1 is ${content[0].text}`);
  };
  await run();
  const readyMs = performance.now() - start;
  const turn = async () => {
    const begin = performance.now();
    let runs = 0;
    for (; performance.now() - begin < turnMs; runs++) await run();
    return { runs, elapsedMs: performance.now() - begin };
  };
  return { readyMs, turn, close: () => host.close() };
}

async function openAlone() {
  const child = spawn(python, [fileURLToPath(new URL('jupyter_client_alone.py', import.meta.url))], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const [, readyMs] = (await lines.next()).value.split(' ');
  const turn = async () => {
    child.stdin.write(`${turnMs}\n`);
    return JSON.parse((await lines.next()).value);
  };
  const close = async () => {
    child.stdin.end();
    await ended;
  };
  return { readyMs: Number(readyMs), turn, close };
}

/** The median, and the quartiles. */
function show(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
  const print = (number) => (number < 10 ? number.toFixed(2) : number.toFixed(0));
  return `${print(at(0.5))} (${print(at(0.25))} to ${print(at(0.75))})`;
}
