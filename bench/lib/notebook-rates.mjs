// `run_code("1+1")` of a real agent against Pyodide that runs `1+1` and nothing else. All live at once and take turns.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endChild, home, startNode, within } from './children.mjs';
import { burst, startMiddle, toSummary } from './crossing.mjs';
import { cpuUsOf } from './proc.mjs';
import { shuffle } from './stats.mjs';

// The one that the notebook itself uses, so that both run the same Pyodide.
const { findPyodide } = await import(new URL('../../packages/notebook/dist/kernel/pyodide-files.js', import.meta.url).href);
const pyodideFolder = fileURLToPath(findPyodide());
const benchFolder = fileURLToPath(new URL('../', import.meta.url));
export const programFile = fileURLToPath(new URL('../../packages/notebridge/bin/notebridge.js', import.meta.url));
/** A turn adds no more cells than that, and they are deleted before the next: what is measured is a notebook of the usual size. */
const cellsPerTurn = 200;
/** And a second notebook, to show what cells cost that are there and do nothing. */
export const cellsOfLarge = 5000;

/** Rates of each in each round. `programs` are the notebooks to measure, by name: the file of the program, and the cells to begin with. */
export async function measureRates(rounds, { turns, turnMs, warmUpMs, programs = usualPrograms }) {
  const targets = { alone: await startAlone() };
  const listFor = () => Object.fromEntries(['alone', ...Object.keys(programs)].map((name) => [name, []]));
  const measured = listFor();
  try {
    for (const [name, options] of Object.entries(programs)) targets[name] = toTarget(await startNotebook(options));
    for (const target of Object.values(targets)) await warmUp(target, warmUpMs);
    for (let round = 0; round < rounds; round++) {
      const bursts = listFor();
      for (let turn = 0; turn < turns; turn++)
        for (const [name, target] of shuffle(Object.entries(targets))) bursts[name].push(await target.run(turnMs));
      for (const [name, list] of Object.entries(bursts)) measured[name].push(toRate(list));
    }
  } finally {
    await Promise.all(Object.values(targets).map((target) => target.end()));
  }
  return measured;
}

const usualPrograms = { notebook: {}, large: { cells: cellsOfLarge } };

async function warmUp(target, ms) {
  for (const start = performance.now(); performance.now() - start < ms; ) await target.run(ms);
}

function toTarget(notebook) {
  return { run: (ms) => runCells(notebook, ms), end: () => notebook.end() };
}

/**
 * From the start of the process to the first `1+1`, in ms, and the rate of the next 200, when everything is still new to V8: Pyodide
 * alone, and an agent's calls.
 */
export async function measureFirstRuns(rounds) {
  const timesMs = { alone: [], notebook: [] };
  const early = { alone: [], notebook: [] };
  const starts = { alone: startAlone, notebook: async () => toTarget(await startNotebook()) };
  // The first start of each reads its files from the disk; nobody waits for that twice.
  for (let round = -1; round < rounds; round++) {
    for (const [name, start] of shuffle(Object.entries(starts))) {
      const startMs = performance.now();
      const target = await start();
      const firstMs = performance.now() - startMs;
      const { runs, elapsedMs } = await target.run(10_000, cellsPerTurn);
      await target.end();
      if (round < 0) continue;
      timesMs[name].push(firstMs);
      early[name].push((runs * 1000) / elapsedMs);
    }
  }
  return { firstRunMs: timesMs, earlyPerSecond: early };
}

/** In a process with the flags of the kernel's own. */
async function startAlone() {
  const permission = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
  const readable = [pyodideFolder, benchFolder].map((folder) => `--allow-fs-read=${folder}`);
  const flags = ['--no-warnings', permission, ...readable, '--disallow-code-generation-from-strings'];
  const child = startNode([...flags, `${benchFolder}pyodide.mjs`, pyodideFolder]);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (ms) => {
    const { value } = await within(ms + 60_000, `Pyodide alone (${child.complaints})`, lines.next());
    if (value === undefined) throw new Error(`Pyodide alone ended. It said: ${child.complaints}`);
    return value;
  };
  if ((await next(0)) !== 'ready') throw new Error('Pyodide alone was not ready.');
  return {
    end: () => endChild(child),
    async run(ms, maxRuns = 1_000_000) {
      const cpuBefore = cpuUsOf(child.pid);
      child.stdin.write(`${ms} ${maxRuns}\n`);
      const { runs, elapsedMs } = JSON.parse(await next(ms));
      return { runs, elapsedMs, cpuUs: cpuUsOf(child.pid) - cpuBefore };
    },
  };
}

/** A whole notebook on a file, as an agent host starts it, with its first call answered. */
export async function startNotebook({ program = programFile, cells = 0 } = {}) {
  const file = join(home, `bench-${process.hrtime.bigint()}.ipynb`);
  if (cells > 0) writeFileSync(file, notebookOf(cells));
  // A broker of its own, which is its child: its time counts, and it ends soon after.
  const env = { XDG_STATE_HOME: `${file}-state`, NOTEBRIDGE_BROKER_IDLE: '1' };
  const middle = startMiddle({ name: 'notebridge', args: [program, 'stdio', '--no-browser', '--notebook', file], env });
  await within(30_000, 'The notebook', middle.agent.initialize());
  await within(60_000, 'The first cell', runCell(middle.agent));
  return middle;
}

/** Cells with a line of source and a line of output each. */
function notebookOf(count) {
  const cell = (index) => {
    const outputs = [{ name: 'stdout', output_type: 'stream', text: [`this is line ${index}\n`] }];
    const source = [`print("this is line ${index}")`];
    return { cell_type: 'code', execution_count: index + 1, id: `old-${index}`, metadata: {}, outputs, source };
  };
  return JSON.stringify({ cells: Array.from({ length: count }, (_, index) => cell(index)), metadata: {}, nbformat: 4, nbformat_minor: 5 });
}

/** Runs cells, and deletes them afterwards, when nobody looks at the clock. */
async function runCells(notebook, ms) {
  const added = [];
  const call = async (agent) => void added.push(await runCell(agent));
  const { callMs, elapsedMs, cpuUs } = await burst(notebook, { call, concurrency: 1, ms, maxCalls: cellsPerTurn });
  for (const cellId of added) await notebook.agent.request('tools/call', { name: 'delete_cell', arguments: { cellId } });
  return { runs: callMs.length, callMs, elapsedMs, cpuUs };
}

/** Answers with the id of the new cell. */
async function runCell(agent) {
  const answer = await agent.request('tools/call', { name: 'run_code', arguments: { code: '1+1' } });
  const { newCellId, status, outputs } = JSON.parse(answer.result?.content?.[0]?.text ?? '{}');
  if (status !== 'ok' || outputs?.[0]?.data?.['text/plain']?.join('') !== '2')
    throw new Error(`A wrong answer: ${JSON.stringify(answer).slice(0, 300)}`);
  return newCellId;
}

function toRate(bursts) {
  const total = (key) => bursts.reduce((sum, burst) => sum + burst[key], 0);
  const { medianMs, p99Ms } = bursts[0].callMs ? toSummary(bursts) : {};
  const runs = total('runs');
  return { runs, runsPerSecond: (runs * 1000) / total('elapsedMs'), cpuUsPerRun: total('cpuUs') / runs, medianMs, p99Ms };
}
